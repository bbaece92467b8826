# mypy: ignore-errors
from pystorm import Bolt


class PrintingBolt(Bolt):
    def process(self, tup):  # noqa: ANN001, ANN201
        print(tup.values, flush=True)  # noqa: T201 - pystorm says that prints go to its log
        self.emit([tup.values[0]])


PrintingBolt().run()
