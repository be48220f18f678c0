<?php
// SPDX-License-Identifier: Apache-2.0
// What a PHP service holds. mode=cache: an array of `limit` keys, written in turn; cache_all:
// without limit. collected: objects in cycles, found by the collector; cycles: the collector is
// switched off. `count` items of `bytes` come at each step.
ini_set("memory_limit", "-1");
require __DIR__ . "/steps.php";

class Node {
    public ?Node $other = null;
    public function __construct(public string $body) {}
}

$job = new Job(["mode" => "cache", "limit" => 100, "count" => 4, "bytes" => 1000]);
$cache = [];
$made = 0;
$job->mode === "cycles" ? gc_disable() : gc_enable();

$job->run(function (int $step) use ($job, &$cache, &$made): void {
    for ($i = 0; $i < $job->count; ++$i) {
        ++$made;
        if ($job->mode === "cache" || $job->mode === "cache_all") {
            $number = $job->mode === "cache" ? $made % $job->limit : $made;
            $cache["key$number"] = str_repeat("v", $job->size());
            if ($job->mode === "cache_all") $job->leak($job->bytes);
            elseif ($made >= $job->limit) $job->growthEnds($step);
            continue;
        }
        $one = new Node(str_repeat("b", $job->size()));
        $one->other = new Node("other");
        $one->other->other = $one;
        if ($job->mode === "cycles") $job->leak($job->bytes);
        elseif (gc_status()["runs"] > 0) $job->growthEnds($step);
    }
});
