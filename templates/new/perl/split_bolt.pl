#!/usr/bin/perl
# A bolt that splits sentences into words. As it is basic, the words are anchored, and the sentence is acked.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Storm;

package SplitBolt;
our @ISA = ('Storm::BasicBolt');

sub process {
    my ($self, $tuple) = @_;
    my $sentence = $tuple->{values}[0] // '';
    $self->emit([$_]) for split ' ', $sentence;
    return;
}

package main;

SplitBolt->new->run;
