"""A program of Ignite with its progress bar; BAR says over what it counts: the
iterations of an epoch, or the epochs."""

import os

import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.handlers import ProgressBar
from ignite.metrics import RunningAverage

import reader

torch.manual_seed(1)
torch.set_num_threads(1)
x, y = reader.points()
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(
    torch.tensor(x), torch.tensor(y)), batch_size=20)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
trainer = create_supervised_trainer(model, optimizer,
                                    torch.nn.functional.cross_entropy)
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
if os.environ.get("BAR") == "epochs":
    ProgressBar().attach(trainer, ["loss"],
                         event_name=Events.EPOCH_COMPLETED,
                         closing_event_name=Events.COMPLETED)
else:
    ProgressBar(persist=True).attach(trainer, ["loss"])
done = reader.load("epochs.json", {"loss": {}})


@trainer.on(Events.ITERATION_COMPLETED)
def slow(engine):
    reader.wait()
    if engine.state.iteration % 10 == 4:
        reader.cut(engine.state.epoch)


@trainer.on(Events.EPOCH_COMPLETED)
def remember(engine):
    done["loss"][engine.state.epoch] = engine.state.metrics["loss"]
    torch.save({"model": model.state_dict(), "trainer": trainer.state_dict()},
               reader.place("new.pt"))
    os.replace(reader.place("new.pt"), reader.place("model.pt"))
    reader.save("epochs.json", done)


if reader.saved("model.pt"):
    state = torch.load(reader.place("model.pt"))
    model.load_state_dict(state["model"])
    trainer.load_state_dict(state["trainer"])
trainer.run(data, max_epochs=reader.epochs)
reader.history(done)
