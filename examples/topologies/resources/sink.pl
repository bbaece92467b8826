#!/usr/bin/perl
# Acks whatever comes.
use strict;
use warnings;
use Storm;

package Sink;
our @ISA = ('Storm::BasicBolt');

sub process { return }

package main;
Sink->new->run;
