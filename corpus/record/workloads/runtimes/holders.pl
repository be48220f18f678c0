# SPDX-License-Identifier: Apache-2.0
# What a Perl service holds. mode=weak: parents and children refer to each other, one side weakly,
# the last `limit` are kept; cycles: both sides strongly, so that no count falls to zero. hash: a
# hash with at most `limit` keys; hash_all: without limit. `count` items of `bytes` come at each
# step.
use strict;
use warnings;
use Scalar::Util qw(weaken);
use Steps;

my $job = Steps->new(mode => "weak", limit => 100, count => 4, bytes => 1000);
my (@kept, %table, @order);
my $made = 0;

sub node {
    my $parent = {body => "z" x $job->size()};
    my $child = {parent => $parent, text => "child"};
    weaken($child->{parent}) if $job->{mode} eq "weak";
    $parent->{child} = $child;
    return $parent;
}

$job->run(sub {
    my $step = shift;
    for (1 .. $job->{count}) {
        $made++;
        if ($job->{mode} eq "cycles") {
            node();
            $job->leak($job->{bytes});
        } elsif ($job->{mode} eq "weak") {
            push @kept, node();
            if (@kept > $job->{limit}) { shift @kept; $job->growth_ends($step); }
        } else {
            $table{"key$made"} = "v" x $job->size();
            if ($job->{mode} eq "hash_all") { $job->leak($job->{bytes}); next; }
            push @order, "key$made";
            if (@order > $job->{limit}) { delete $table{shift @order}; $job->growth_ends($step); }
        }
    }
});
