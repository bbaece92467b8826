"""The line that has a library emit: its stream and the number of its values tell it from others."""

from __future__ import annotations

import pytest

from multilang_cli.causes.library_emits import emitter_of
from multilang_cli.protocol.words.messages import Emit

PYTHON = """class Frauds(storm.BasicBolt):
    def emit_alert(self, tup, entity):
        storm.emitBolt([account, self.name], stream='alerts')
    def emit_stats(self, tup, entity):
        storm.emitBolt(
            [
                account,
                round(entity.mean, 2),
            ],
            stream='stats')
        # storm.emit([account])
    def process(self, tup):
        self.emit_alert(tup, None)
        storm.emit([account, "one, two", tup.values[0]])
        storm.emit([account, 1])
        storm.emit([*tup.values])
"""
JAVASCRIPT = """const socket = connect();
Mean.prototype.process = function(tup, done) {
  socket.emit('mean', [1, 2]);
  this.emit({tuple: [tup.values[0], {a: 1, b: 2}], anchorTupleId: tup.id}, done);
};
"""
RUBY = """class Mean < Storm::Bolt
  def process(tup)
    emit [tup.values[0], 1]
    emit [tup.values[0]], :stream => 'other'
    emit(rest)
  end
end
"""
PERL = """sub process {
    my ($self, $tuple) = @_;
    $self->emit([$word, $mean]);
    $self->emit([@words]);
}
"""
SOURCES = {"python": PYTHON, "javascript": JAVASCRIPT, "ruby": RUBY, "perl": PERL}


@pytest.mark.parametrize(
    ("language", "stream", "values", "line"),
    [
        ("python", "alerts", 2, 3),
        ("python", "stats", 2, 5),
        ("python", "stats", 3, 0),
        ("python", "elsewhere", 2, 0),
        ("python", "default", 4, 16),
        ("python", "default", 3, 0),
        ("javascript", "default", 2, 4),
        ("ruby", "other", 1, 4),
        ("ruby", "default", 5, 5),
        ("ruby", "default", 2, 0),
        ("perl", "default", 3, 4),
        ("perl", "default", 2, 0),
    ],
)
def test_the_only_line_that_may_have_made_an_emit_is_told(language: str, stream: str, values: int, line: int) -> None:
    emit = Emit(values=["x"] * values, stream=stream)
    found = emitter_of(emit, {"bolt": SOURCES[language].splitlines()}, language)
    assert (found.line if found else 0) == line
