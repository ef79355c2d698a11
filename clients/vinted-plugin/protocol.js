// The protocol of layers/common/spinneret/marketplace/vinted/transport.py, without a browser's API:
// what comes in is given to `hear`, what goes out leaves by `say`, and `act` asks the marketplace.

export class Protocol {
  // memory: {get(key) -> answer | undefined, set(key, answer), drop(key)}, kept across restarts.
  constructor({say, act, memory, marketplace}) {
    Object.assign(this, {say, act, memory, marketplace});
    this.busy = new Set();
  }

  // After every (re)connection.
  open() {
    this.say({action: "plugin.hello", marketplace: this.marketplace});
  }

  async hear(message) {
    if (message.type === "confirmed" && message.of === "plugin.answer") {
      return; // kept in memory all the same: the task may come again
    }
    if (message.type !== "task" || this.busy.has(message.key)) return;
    this.say({action: "plugin.accepted", key: message.key});
    let answer = await this.memory.get(message.key);
    if (answer === undefined) {
      this.busy.add(message.key);
      try {
        answer = await this.act(message);
        await this.memory.set(message.key, answer);
      } finally {
        this.busy.delete(message.key);
      }
    }
    this.say({action: "plugin.answer", key: message.key, ...answer});
  }
}
