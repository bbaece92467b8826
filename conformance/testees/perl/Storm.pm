# Apache Storm's multilang protocol, for bolts and spouts that Storm starts as subprocesses: a class on top of
# Storm::Bolt, Storm::BasicBolt or Storm::Spout, then CLASS->new->run. A message is JSON in UTF-8, a newline, and a line
# "end", on stdin and stdout. Booleans are JSON::PP::true and JSON::PP::false, null is undef. Perl keeps a number apart
# from a string by its last use: say 0 + $n and "$s" where it matters. What is printed goes to stderr.
package Storm;

use strict;
use warnings;
use IO::Handle;
use JSON::PP ();

my $JSON = (eval { require Cpanel::JSON::XS } ? 'Cpanel::JSON::XS' : 'JSON::PP')->new->utf8->allow_nonref;    # XS: if it is there

sub new {
    my ($class, %fields) = @_;
    return bless {%fields, waiting => [], open => {}}, $class;
}

# Called once, before anything else. Both are hashes.
sub initialize { my ($self, $conf, $context) = @_; }

# Works until Storm closes the pipe.
sub run {
    my $self = shift;
    open $self->{out}, '>&', \*STDOUT or die "stdout: $!";
    open STDOUT, '>&', \*STDERR or die "stdout: $!";    # stdout belongs to the protocol: a stray print would break it
    binmode $_ for \*STDIN, $self->{out};
    my $hello = $self->next_message;
    open my $file, '>', "$hello->{pidDir}/$$" or die "pid file: $!";
    close $file;
    $self->send_message({pid => 0 + $$});
    $self->initialize($hello->{conf}, $hello->{context});
    $self->turn($self->next_message) while 1;
    return;
}

# Sends a tuple on: $self->emit(['word'], stream => 'words', task => 4, task_ids => 1). `task`: the one task that gets it,
# on a direct stream. `task_ids`: to be given the tasks that get it, a list; a direct emit has none. Bolts: `anchors`, a
# list of tuples that are replayed if this is lost. Spouts: `id`, what ack or fail is to be called with.
sub emit {
    my ($self, $values, %options) = @_;
    my $wanted = delete $options{task_ids} && !exists $options{task};
    $options{anchors} = [map { $_->{id} } @{$options{anchors}}] if $options{anchors};
    $options{need_task_ids} = $wanted ? JSON::PP::true : JSON::PP::false;
    $self->send_message({command => 'emit', tuple => $values, %options});
    while ($wanted) {
        my $message = $self->next_message;
        return $message if ref $message eq 'ARRAY';
        $self->meanwhile($message);
    }
    return;
}

# Writes to the worker's log, at level 0 to 4: trace, debug, info, warn, error.
sub log {
    my ($self, $text, $level) = @_;
    return $self->send_message({command => 'log', msg => "$text", level => 0 + ($level // 2)});
}

# Shows a text in Storm's UI; fails no tuple and stops nothing.
sub report_error {
    my ($self, $text) = @_;
    return $self->send_message({command => 'error', msg => "$text"});
}

# Reads a message; answers heartbeats, which are no tuples and must not be acked.
sub next_message {
    my $self = shift;
    my $text = '';
    while (defined(my $line = readline STDIN)) {
        if ($line !~ /\Aend\r?\n\z/) {
            $text .= $line;
            next;
        }
        my $message = $JSON->decode($text);
        my $beat = ref $message eq 'HASH' && ($message->{stream} // '') eq '__heartbeat' && $message->{task} == -1;
        return $message if !$beat;
        $self->send_message({command => 'sync'});
        $text = '';
    }
    exit 0;    # Storm has closed the pipe: the worker is gone
}

# Writes a message at once and whole. If Storm no longer reads, the process ends.
sub send_message {
    my ($self, $message) = @_;
    my $text = $JSON->encode($message);
    print {$self->{out}} "$text\nend\n";
    $self->{out}->flush;
    return;
}

# A bolt acks or fails each tuple exactly once, now or later: a hash of id, component, stream, task and values. A tick has
# the component "__system" and the stream "__tick". After an exception the tuple is failed.
package Storm::Bolt;
our @ISA = ('Storm');

sub process { die 'process is to be written' }

sub ack  { my ($self, $tuple) = @_; return $self->settle('ack',  $tuple) }
sub fail { my ($self, $tuple) = @_; return $self->settle('fail', $tuple) }

# A second time would end Storm's worker.
sub settle {
    my ($self, $command, $tuple) = @_;
    delete $self->{open}{$tuple->{id}} or die "cannot $command tuple $tuple->{id}: it is settled already";
    return $self->send_message({command => $command, id => "$tuple->{id}"});
}

# Takes what comes while task ids are awaited.
sub meanwhile { my ($self, $message) = @_; push @{$self->{waiting}}, $message; return }

sub turn {
    my ($self, $message) = @_;
    push @{$self->{waiting}}, $message;
    while (my $m = shift @{$self->{waiting}}) {
        my $tuple = {id => $m->{id}, component => $m->{comp}, stream => $m->{stream}, task => $m->{task}, values => $m->{tuple}};
        $self->{open}{$m->{id}} = 1;
        next if eval { $self->work($tuple); 1 };
        $self->report_error($@);
        $self->fail($tuple) if $self->{open}{$m->{id}};
    }
    return;
}

sub work { my ($self, $tuple) = @_; return $self->process($tuple) }

# A bolt whose emits are anchored to the tuple in process; that is acked when process returns.
package Storm::BasicBolt;
our @ISA = ('Storm::Bolt');

sub emit {
    my ($self, $values, %options) = @_;
    return $self->SUPER::emit($values, anchors => [$self->{input}], %options);
}

sub work {
    my ($self, $tuple) = @_;
    $self->{input} = $tuple;
    $self->process($tuple);
    return $self->ack($tuple);
}

# A spout answers Storm's calls. Each may emit; what dies is reported. next_tuple returns soon, and sleeps a little if
# there is nothing to emit.
package Storm::Spout;
our @ISA = ('Storm');

sub next_tuple { die 'next_tuple is to be written' }
sub ack        { my ($self, $id) = @_; return }
sub fail       { my ($self, $id) = @_; return }
sub activate   { my $self = shift; return }
sub deactivate { my $self = shift; return }

my %METHODS = map { $_ => $_ } qw(ack fail activate deactivate);
$METHODS{next} = 'next_tuple';

sub turn {
    my ($self, $message) = @_;
    my $method = $METHODS{$message->{command}};
    eval { $self->$method(exists $message->{id} ? $message->{id} : ()); 1 } or $self->report_error($@);
    $self->send_message({command => 'sync'});    # exactly one, whatever happened: Storm waits for it
    return;
}

# Without ackers, Storm calls ack from within an emit.
sub meanwhile { my ($self, $message) = @_; return $self->turn($message) }

1;
