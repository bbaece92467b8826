# A bolt that is right. Each mistake is a change of it.
use strict;
use warnings;
use JSON::PP qw(decode_json encode_json);

$| = 1;

sub receive {
    local $/ = "\nend\n";
    my $text = <STDIN>;
    exit 0 unless defined $text;
    chomp $text;
    return decode_json($text);
}

sub say_ {
    print encode_json($_[0]) . "\nend\n";
}

sub process {
    my ($tup) = @_;
    my $word = $tup->{tuple}[0];
    say_({command => "emit", anchors => [$tup->{id}], tuple => [$word], need_task_ids => JSON::PP::false});
    say_({command => "ack", id => $tup->{id}});
}

my $setup = receive();
open(my $file, ">", "$setup->{pidDir}/$$") or die "no pid file";
close $file;
say_({pid => $$ + 0});
my $count = 0;
while (1) {
    my $message = receive();
    next if ref $message eq "ARRAY";
    if ($message->{stream} eq "__heartbeat") {
        say_({command => "sync"});
        next;
    }
    $count++;
    process($message);
}
