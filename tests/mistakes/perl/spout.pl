# A spout that is right. Each mistake is a change of it.
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

my $setup = receive();
open(my $file, ">", "$setup->{pidDir}/$$") or die "no pid file";
close $file;
say_({pid => $$ + 0});
my $count = 0;
while (1) {
    my $message = receive();
    next if ref $message eq "ARRAY";
    if ($message->{command} eq "next") {
        $count++;
        say_({command => "emit", id => "m$count", tuple => ["word"], need_task_ids => JSON::PP::false});
    }
    say_({command => "sync"});
}
