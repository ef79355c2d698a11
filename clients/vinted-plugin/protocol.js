// The protocol of layers/common/spinneret/marketplace/plugins/transport.py, without a browser's API:
// what comes in is given to `receive`, what goes out leaves by `send`, and `act` asks the marketplace.

// What is answered when it isn't known what the marketplace did.
const UNKNOWN = {status: 0, body: {}};

export class Protocol {
  // memory: {get(key) -> answer | undefined, set(key, answer), drop(key), all() -> [[key, answer]]}:
  // promises, kept over restarts.
  // browser: a name that this browser keeps.
  constructor({send, act, memory, marketplace, browser}) {
    Object.assign(this, {send, act, memory, marketplace, browser});
    this.tasks = new Map(); // by key, until the server confirms that they are this browser's
    this.busy = new Set();
  }

  // After every (re)connection: it is there, and offers the answers that weren't confirmed.
  async open() {
    this.send({action: "plugin.hello", marketplace: this.marketplace, browser: this.browser});
    for (const [key, answer] of await this.memory.all()) {
      if (!this.busy.has(key)) this.tell(key, answer);
    }
  }

  tell(key, answer) {
    this.send({action: "plugin.answer", key, ...answer, browser: this.browser});
  }

  async receive(message) {
    if (message.type === "task") {
      this.tasks.set(message.key, message);
      this.send({action: "plugin.accepted", key: message.key, browser: this.browser});
    } else if (message.type === "confirmed" && message.of === "plugin.accepted") {
      const task = this.tasks.get(message.key);
      this.tasks.delete(message.key);
      if (task && !this.busy.has(message.key)) await this.carryOut(task);
    } else if (message.type === "confirmed" && message.of === "plugin.answer") {
      this.tasks.delete(message.key); // it may have come again: a late confirmation finds nothing
      await this.memory.drop(message.key);
    } else if (message.type === "error" && message.details?.of === "plugin.answer") {
      await this.memory.drop(message.details.key); // outdated
    }
  }

  async carryOut(task) {
    this.busy.add(task.key);
    try {
      let answer = await this.memory.get(task.key);
      if (answer === undefined) {
        await this.memory.set(task.key, UNKNOWN); // should the browser be closed while it acts
        answer = await this.act(task).catch(() => UNKNOWN);
        await this.memory.set(task.key, answer);
      }
      this.tell(task.key, answer);
    } finally {
      this.busy.delete(task.key);
    }
  }
}
