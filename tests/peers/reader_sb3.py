"""A program of stable-baselines3: its table, progress.csv and monitor.csv."""

import os

import gymnasium
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, configure
from stable_baselines3.common.monitor import Monitor

import reader


class Remember(KVWriter):
    """What the library's logger gives each of its outputs."""

    def write(self, values, excluded, step=0):
        done = reader.load("dumps.json", {})
        for name, value in values.items():
            if isinstance(value, (int, float)) or hasattr(value, "item"):
                done.setdefault(name, {})[int(step)] = float(value)
        reader.save("dumps.json", done)

    def close(self):
        pass


class Cut(BaseCallback):
    def _on_step(self):
        if reader.slow and self.num_timesteps % 16 == 0:
            reader.wait()
        if self.num_timesteps % 128 == 40:
            reader.cut(self.num_timesteps // 128)
        return True

    def _on_rollout_start(self):
        if self.num_timesteps:
            self.model.save(reader.place("model.zip"))


logs = os.environ.get("LOGS", "logs")
os.makedirs(logs, exist_ok=True)
env = Monitor(gymnasium.make("CartPole-v1"), os.path.join(logs, "monitor.csv"),
              override_existing=not reader.saved("model.zip"))
if reader.saved("model.zip"):
    model = PPO.load(reader.place("model.zip"), env)
else:
    model = PPO("MlpPolicy", env, n_steps=128, n_epochs=2, seed=1, device="cpu",
                policy_kwargs={"net_arch": [8]}, verbose=1)
logger = configure(logs, os.environ.get("FORMATS", "stdout,csv").split(","))
logger.output_formats.append(Remember())
model.set_logger(logger)
model.learn(reader.epochs * 128 - model.num_timesteps, callback=Cut(),
            log_interval=1, reset_num_timesteps=not reader.saved("model.zip"))
reader.history(reader.load("dumps.json", {}))
