# Bugs for the testee, one at a time: MLCHECK_MUTANT=ack-twice. What each breaks is in mutants.yaml. They take the place
# of the library's own subs.
package Mutants;

use strict;
use warnings;
no warnings 'redefine';
use JSON::PP ();
use Scalar::Util qw(looks_like_number);

# Other code in the place of a sub of Storm: it is given the old code first.
sub wrap {
    my ($name, $code) = @_;
    no strict 'refs';
    my $old = \&{"Storm::$name"};
    *{"Storm::$name"} = sub { $code->($old, @_) };
    return;
}

# Changes the messages that are sent: the code is given one, and returns those that go out.
sub sent {
    my $change = shift;
    return wrap(send_message => sub { my ($send, $self, $message) = @_; $send->($self, $_) for $change->($message) });
}

# Changes the messages with this command, or field.
sub only {
    my ($command, $change) = @_;
    return sent(sub {
        my $message = shift;
        return ($message->{command} // '') eq $command || exists $message->{$command} ? $change->($message) : $message;
    });
}

# Changes one field, where there is one.
sub field {
    my ($command, $key, $change) = @_;
    return only($command => sub {
        my %message = %{shift()};
        $message{$key} = $change->($message{$key}) if exists $message{$key};
        return \%message;
    });
}

# Changes each value of an emit.
sub values_by {
    my $change = shift;
    return field(emit => 'tuple', sub { [map { $change->($_) } @{shift()}] });
}

# Changes what is read.
sub received {
    my $change = shift;
    return wrap(next_message => sub { my ($next, $self) = @_; return $change->($next->($self), $self, $next) });
}

# The fail that follows an error.
sub after_an_error {
    my $change = shift;
    my $failed = 0;
    return sent(sub {
        my %message = %{shift()};
        my $command = $message{command} // '';
        $change->(\%message) if $failed && $command eq 'fail';
        $failed = $command eq 'error';
        return \%message;
    });
}

# Text as it is, in the place of a message.
sub raw {
    my ($self, $text) = @_;
    print {$self->{out}} $text;
    $self->{out}->flush;
    return;
}

my @kept;
my %BUGS = (
    'ack-twice'         => sub { only(ack => sub { ($_[0], $_[0]) }) },
    'ack-id-number'     => sub { field(ack => 'id', sub { 0 + shift }) },
    'fail-as-ack'       => sub { field(fail => 'command', sub { 'ack' }) },
    'anchors-missing'   => sub { field(emit => 'anchors', sub { [] }) },
    'anchors-nested'    => sub { field(emit => 'anchors', sub { [shift] }) },
    'anchors-undefined' => sub { field(emit => 'anchors', sub { [undef] }) },
    'tuple-object'      => sub { field(emit => 'tuple', sub { {values => shift} }) },
    'task-string'       => sub { field(emit => 'task', sub { q{} . shift }) },
    'log-map'           => sub { field(log => 'msg', sub { {text => shift} }) },
    'number-string'     => sub { values_by(sub { my $value = shift; looks_like_number($value) ? "$value" : $value }) },
    'string-number'     => sub { field(emit => 'id', sub { my $id = shift; looks_like_number($id) ? 0 + $id : $id }) },
    'boolean-integer'   => sub { values_by(sub { my $value = shift; JSON::PP::is_bool($value) ? 0 + $value : $value }) },
    'latin-1-out'       => sub { values_by(sub { my $value = shift; utf8::encode($value) if !ref $value && defined $value; $value }) },
    'emit-unencodable'  => sub { only(emit => sub { JSON::PP->new->ascii->encode($_[0]) =~ /\\u/ ? () : $_[0] }) },
    'held-back'         => sub {
        sent(sub { my $message = shift; return $message if $message->{pid}; push @kept, $message; return @kept > 1 ? shift @kept : () });
    },
    'emits-last' => sub {
        sent(sub {
            my $message = shift;
            if (($message->{command} // '') eq 'emit') { push @kept, $message; return }
            return ($message, splice @kept);
        });
    },
    'sync-twice'     => sub { only(sync => sub { ($_[0], $_[0]) }) },
    'prints'         => sub { wrap(send_message => sub { my ($send, $self, $message) = @_; raw($self, "sending\n"); $send->($self, $message) }) },
    'late-pid'       => sub { only(pid => sub { ({command => 'log', msg => 'starting'}, $_[0]) }) },
    'pid-string'     => sub { field(pid => 'pid', sub { q{} . shift }) },
    'raise-acked'    => sub { after_an_error(sub { $_[0]{command} = 'ack' }) },
    'fails-other'    => sub { after_an_error(sub { $_[0]{id} = '-1' }) },
    'conf-wrong-key' => sub { received(sub { my $message = shift; $message->{conf} = $message->{config} if ref $message eq 'HASH'; $message }) },
    'no-pid-file'    => sub {
        my $file;
        received(sub { my $message = shift; $file //= "$message->{pidDir}/$$"; $message });
        only(pid => sub { unlink $file; $_[0] });
    },
    'beats-ignored'  => sub { only(sync => sub { () }) },
    'direct-waits'   => sub {
        wrap(emit => sub {
            my ($emit, $self, $values, %options) = @_;
            my $ids = $emit->($self, $values, %options);
            while ($options{task} && ref(my $message = $self->next_message) ne 'ARRAY') { $self->meanwhile($message) }
            return $ids;
        });
    },
    'ids-drop-others' => sub { wrap('Bolt::meanwhile' => sub { }) },
    'ids-of-before'   => sub {
        my $before = [];
        received(sub { my $message = shift; return $message if ref $message ne 'ARRAY'; (my $now, $before) = ($before, $message); $now });
    },
    'silent-ack' => sub {
        wrap('Spout::turn' => sub {
            my ($turn, $self, $message) = @_;
            return $message->{command} =~ /\A(?:ack|fail)\z/ ? $self->called($message->{command}, $message->{id}) : $turn->($self, $message);
        });
    },
    'latin-1' => sub { received(sub { my $message = shift; utf8::encode($_) for grep { defined && !ref } @{ref $message eq 'HASH' && $message->{tuple} || []}; $message }) },
    'outlives' => sub { my $pid = $$; eval 'END { sleep 60 if $$ == $pid }' or 1 },
    'timer-left' => sub { only(ack => sub { alarm 1; $_[0] }) },
    'stderr-flood' => sub { only(sync => sub { print STDERR '.' x 100_000; $_[0] }) },
    'stderr-unread' => sub { pipe my $reader, my $writer or die; push @kept, $reader; open STDERR, '>&', $writer or die },
);

sub plant {
    my $name = shift;
    ($BUGS{$name} or die "no such mutant: $name\n")->();
    return;
}

1;
