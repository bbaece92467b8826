#!/usr/bin/perl
# The testee of Storm.pm: does what a tuple or conf tells it (see `mlcheck docs testees`).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Storm;

my %LEVELS = (trace => 0, debug => 1, info => 2, warn => 3, error => 4);

# What bolts and spouts have in common.
package Testee;

sub keep {
    my ($self, $conf, $context) = @_;
    @{$self->{seen}}{qw(conf context task_ids)} = ($conf, $context, []);
    return;
}

# Does what is the same in a bolt and in a spout.
my %ACTIONS = (
    log    => sub { my ($self, $action) = @_; $self->log($action->{message}, $LEVELS{$action->{level} // 'info'}) },
    error  => sub { my ($self, $action) = @_; $self->report_error($action->{message}) },
    raise  => sub { my ($self, $action) = @_; die "$action->{message}\n" },
    sleep  => sub { my ($self, $action) = @_; select undef, undef, undef, $action->{seconds} },
    exit   => sub { my ($self, $action) = @_; exit $action->{code} },
    print  => sub { my ($self, $action) = @_; print "$action->{text}\n" },
    stderr => sub { my ($self, $action) = @_; print STDERR '.' x $action->{bytes} },
    emit   => sub { my ($self, $action) = @_; $self->emit_as($action) },
    tell   => sub { my ($self, $action) = @_; $self->tell($action->{what}) },
);

sub act {
    my ($self, $action) = @_;
    my $code = $ACTIONS{$action->{do}} or die "no such action: $action->{do}\n";
    $self->$code($action);
    return;
}

sub emit_as {
    my ($self, $action, %more) = @_;
    $more{$_} = $action->{$_} for grep { exists $action->{$_} } qw(stream task id);
    my $ids = $self->emit($action->{values}, task_ids => $action->{ids}, %more);
    $self->{seen}{task_ids} = $ids if $ids;
    return;
}

sub tell {
    my ($self, $what) = @_;
    $self->emit([$what, $self->{seen}{$what}], stream => 'told');
    return;
}

# Settles as it is told.
package TesteeBolt;
our @ISA = ('Testee', 'Storm::Bolt');

sub initialize { my ($self, @both) = @_; return $self->keep(@both) }

sub plan_of {
    my $tuple = shift;
    return [{do => 'ack'}] if $tuple->{stream} eq '__tick';
    my $first = $tuple->{values}[0];
    my $planned = ref $first eq 'ARRAY' && @$first && !grep { ref ne 'HASH' || !exists $_->{do} } @$first;
    return $planned ? $first : [{do => 'emit', values => $tuple->{values}}, {do => 'ack'}];
}

sub process {
    my ($self, $tuple) = @_;
    $self->{held}{input} = $self->{seen}{tuple} = $tuple;
    $self->act($_) for @{plan_of($tuple)};
    return;
}

sub act {
    my ($self, $action) = @_;
    my ($do, $input) = ($action->{do}, $self->{held}{input});
    return $self->settle($do, $self->{held}{$action->{tuple} // 'input'}) if $do eq 'ack' || $do eq 'fail';
    return $self->emit_as({values => [@{$input->{values}}[1 .. $#{$input->{values}}]]}) if $do eq 'echo';
    return $self->{held}{$action->{as}} = $input if $do eq 'hold';
    return $self->SUPER::act($action);
}

sub emit_as {
    my ($self, $action) = @_;
    return $self->SUPER::emit_as($action, anchors => [map { $self->{held}{$_} } @{$action->{anchors} // ['input']}]);
}

# Its library anchors and acks.
package TesteeBasicBolt;
our @ISA = ('Testee', 'Storm::BasicBolt');

sub initialize { my ($self, @both) = @_; return $self->keep(@both) }

sub process {
    my ($self, $tuple) = @_;
    $self->{seen}{tuple} = $tuple;
    for my $action (@{TesteeBolt::plan_of($tuple)}) {
        next if $action->{do} eq 'ack';
        my @rest = @{$tuple->{values}}[1 .. $#{$tuple->{values}}];
        $self->act($action->{do} eq 'echo' ? {do => 'emit', values => \@rest} : $action);
    }
    return;
}

# Does for each command what conf says.
package TesteeSpout;
our @ISA = ('Testee', 'Storm::Spout');

sub initialize {
    my ($self, $conf, $context) = @_;
    $self->keep($conf, $context);
    @$self{qw(plan count again)} = ($conf->{'mlcheck.testee'}, 0, []);
    $self->{seen}{calls} = [];
    return $self->follow($self->{plan}{initialize});
}

sub follow {
    my ($self, $actions) = @_;
    for my $action (@{$actions // []}) {
        $self->act($action);
        $self->{seen}{calls} = [] if $action->{do} eq 'tell' && $action->{what} eq 'calls';
    }
    return;
}

# Remembers a call, and does what conf says about it.
sub called {
    my ($self, @call) = @_;
    push @{$self->{seen}{calls}}, \@call;
    my $actions = $self->{plan}{$call[0]};
    $actions = $actions->[$self->{count}++] if $call[0] eq 'next' && $actions;
    return $self->follow($actions);
}

sub next_tuple {
    my $self = shift;
    $self->called('next');
    return if %{$self->{plan} // {}};
    my $id = shift @{$self->{again}} // q{} . ++$self->{count};
    return $self->emit(["word $id"], id => "$id");
}

sub ack        { my ($self, $id) = @_; return $self->called('ack', $id) }
sub activate   { my $self = shift; return $self->called('activate') }
sub deactivate { my $self = shift; return $self->called('deactivate') }

sub fail {
    my ($self, $id) = @_;
    push @{$self->{again}}, $id if !%{$self->{plan} // {}} && !ref $id;
    return $self->called('fail', $id);
}

package main;

if (my $name = $ENV{MLCHECK_MUTANT}) {
    require Mutants;
    Mutants::plant($name);
}
my %CLASSES = (bolt => 'TesteeBolt', basic => 'TesteeBasicBolt', spout => 'TesteeSpout');
$CLASSES{$ARGV[0]}->new->run;
