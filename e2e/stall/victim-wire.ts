/** The victim's requests over kept connections, and the waits for a core that are not the host's fault. */
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';

/** Limits of wrong keys are kept by address, so the victim has another one than the attacker. */
const agent = new Agent({ keepAlive: true, maxSockets: 200, localAddress: '127.0.0.2' });

export class Wire {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async register(id: string, node: { readonly id: string; readonly typeId: string; readonly config: object }) {
    const nodes = [{ ...node, name: node.id, position: { x: 0, y: 0 }, inputs: {} }];
    const rest = { edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
    await this.#send('POST', '/v1/workflows', { id, name: id, version: '1', nodes, ...rest });
  }

  async health(): Promise<void> {
    await this.#send('GET', '/healthz');
  }

  async start(workflowId: string): Promise<string> {
    return String((await this.#send('POST', '/v1/runs', { workflowId })).runId);
  }

  /** Resolves once the run has ended. */
  async ended(runId: string): Promise<void> {
    for (let after = 0; ; ) {
      const poll = await this.#send('GET', `/v1/runs/${runId}/events/poll?timeout=30&lastSequence=${after}`);
      if (poll.isTerminal === true) return;
      after = Number(poll.lastEventSeq);
    }
  }

  #send(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' };
      const sent = request(new URL(path, this.#url), { method, agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          if (status < 300) resolve(text.startsWith('{') ? JSON.parse(text) : {});
          else reject(new Error(`${method} ${path} got ${status} ${text.slice(0, 200)}`));
        });
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

const TICK_MS = 5;

/** Notices when this process itself could not run, for example because every core was busy. */
export class OwnPauses {
  readonly #pauses: { readonly from: number; readonly to: number }[] = [];
  #last = performance.now();

  constructor() {
    setInterval(() => {
      const now = performance.now();
      if (now - this.#last > 2 * TICK_MS) this.#pauses.push({ from: this.#last + TICK_MS, to: now });
      if (this.#pauses.length > 10_000) this.#pauses.splice(0, 5_000);
      this.#last = now;
    }, TICK_MS);
  }

  /** Milliseconds of this span in which the process could not run. */
  within(begin: number, end: number): number {
    let sum = 0;
    for (const { from, to } of this.#pauses) sum += Math.max(0, Math.min(end, to) - Math.max(begin, from));
    return sum;
  }
}
