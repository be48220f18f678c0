<?php
// SPDX-License-Identifier: Apache-2.0
// What the PHP workloads share; the words are those of steps.py.
class Job {
    private int $leaked = 0;
    private string $ended = "never";
    private array $model = [];
    private array $prefetched = [];
    private array $values;

    public function __construct(array $defaults) {
        $this->values = $defaults + ["steps" => 200, "epoch_steps" => 0, "batch" => 1, "seed" => 1,
                                     "model_mb" => 40, "noise_mb" => 4, "pace_ms" => 12];
        foreach (array_slice($GLOBALS["argv"], 1) as $pair) {
            [$key, $value] = explode("=", $pair, 2);
            if (!isset($this->values[$key])) throw new Exception("unknown parameter $key");
            $this->values[$key] = is_numeric($value) ? $value + 0 : $value;
        }
        mt_srand($this->values["seed"]);
        for ($i = 0; $i < $this->model_mb; ++$i) $this->model[] = str_repeat("Z", 1 << 20);
    }

    public function __get(string $key) { return $this->values[$key]; }
    public function uniform(float $low, float $high): float {
        return $low + ($high - $low) * mt_rand() / mt_getrandmax();
    }
    public function size(): int { return max(1, (int) ($this->bytes * $this->uniform(0.5, 1.5))); }
    public function leak(int $size): void { $this->leaked += $size; }
    public function growthEnds(int $step): void {
        if ($this->ended === "never") $this->ended = (string) $step;
    }

    // Calls $work($step) for each step.
    public function run(callable $work): void {
        for ($step = 1; $step <= $this->steps; ++$step) {
            $size = (int) ($this->uniform(0.05, 0.5) * $this->noise_mb * 1048576);
            $this->prefetched[$step % 4] = str_repeat("n", $size);
            $scratch = [];
            for ($i = 0; $i < $this->uniform(100, 2000); ++$i) {
                $scratch[] = ["loss" => $i, "tokens" => [$i]];
            }
            unset($scratch);
            $work($step);
            usleep((int) ($this->pace_ms * 1000));
            echo "STEP $step\n";
            if (fgets(STDIN) === false) exit(1);
        }
        echo "DONE leaked={$this->leaked} ended={$this->ended}\n";
    }
}
