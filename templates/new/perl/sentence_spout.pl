#!/usr/bin/perl
# A spout that emits sentences, and again those that failed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Storm;

package SentenceSpout;
our @ISA = ('Storm::Spout');

my @SENTENCES = (
    'the cow jumped over the moon',
    'an apple a day keeps the doctor away',
    'snow white and the seven dwarfs',
);

sub initialize {
    my $self = shift;
    $self->{waiting_ids} = [map { "$_" } 1 .. @SENTENCES];
    $self->{pending} = {map { $_ => $SENTENCES[$_ - 1] } 1 .. @SENTENCES};
    return;
}

# Emits one sentence. Because it has an id, Storm tells its fate: ack or fail.
sub next_tuple {
    my $self = shift;
    my $id = shift @{$self->{waiting_ids}};
    return select undef, undef, undef, 0.01 if !defined $id;    # do not let Storm ask again at full speed
    return $self->emit([$self->{pending}{$id}], id => $id);
}

sub ack { my ($self, $id) = @_; delete $self->{pending}{$id}; return }

sub fail {
    my ($self, $id) = @_;
    push @{$self->{waiting_ids}}, $id if exists $self->{pending}{$id};
    return;
}

package main;

SentenceSpout->new->run;
