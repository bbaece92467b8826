#!/usr/bin/perl
# Emits the first value of each tuple, and the word that it was started with.
use strict;
use warnings;
use Storm;

package Mark;
our @ISA = ('Storm::BasicBolt');

sub process {
    my ($self, $tuple) = @_;
    return $self->emit([$tuple->{values}[0], $ARGV[0]]);
}

package main;
Mark->new->run;
