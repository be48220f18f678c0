# SPDX-License-Identifier: Apache-2.0
# What the Perl workloads share; the words are those of steps.py.
package Steps;
use strict;
use warnings;
use Time::HiRes qw(usleep);

sub new {
    my ($class, %defaults) = @_;
    my $job = bless {steps => 200, epoch_steps => 0, batch => 1, seed => 1, model_mb => 40,
                     noise_mb => 4, pace_ms => 12, leaked => 0, ended => "never",
                     %defaults}, $class;
    for (@ARGV) {
        my ($key, $value) = split /=/, $_, 2;
        die "unknown parameter $key" unless exists $job->{$key};
        $job->{$key} = $value;
    }
    srand($job->{seed});
    $job->{model} = [map { "\x5a" x 1048576 } 1 .. $job->{model_mb}];
    $job->{prefetched} = [];
    return $job;
}

sub uniform { my ($job, $low, $high) = @_; return $low + ($high - $low) * rand(); }
sub size { my $job = shift; return 1 + int($job->{bytes} * $job->uniform(0.5, 1.5)); }
sub leak { my ($job, $bytes) = @_; $job->{leaked} += $bytes; }
sub growth_ends { my ($job, $step) = @_; $job->{ended} = $step if $job->{ended} eq "never"; }

# Runs a sub for each step.
sub run {
    my ($job, $work) = @_;
    $| = 1;
    for my $step (1 .. $job->{steps}) {
        my $size = int($job->uniform(0.05, 0.5) * $job->{noise_mb} * 1048576);
        push @{$job->{prefetched}}, "\x5a" x $size;
        shift @{$job->{prefetched}} if @{$job->{prefetched}} > 4;
        my @scratch = map { {loss => $_ * 0.5, tokens => [$_, $_]} } 1 .. $job->uniform(100, 1000);
        $work->($step);
        usleep($job->{pace_ms} * 1000);
        print "STEP $step\n";
        defined(my $answer = <STDIN>) or exit 1;
    }
    print "DONE leaked=$job->{leaked} ended=$job->{ended}\n";
}

1;
