/** A host in its own folder, with a witness, for tests that inject one fault. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { type Audited, auditStore } from './audit-store.ts';
import { crashWorkflows } from './crash-workflows.ts';
import { type Birth, HostProcess } from './host-process.ts';
import { patron } from './patron.ts';
import { Wire } from './wire.ts';
import { Witness } from './witness.ts';

export interface Work {
  /** Starts no new runs. Resolves when the last runs have ended. */
  finish(): Promise<void>;
  /** Disconnects the patrons in the middle of their work. */
  abandon(): Promise<void>;
}

export class ScratchHost implements AsyncDisposable {
  readonly home = mkdtempSync(join(tmpdir(), 'cairn-hostile-'));
  readonly witness = new Witness();
  readonly host = new HostProcess({
    folder: join(this.home, 'disk', 'data'),
    journal: join(this.home, 'journal.ndjson'),
    key: 'hostile-L4cRw7PjS2fGq9XbTm5',
    tenant: 'hostile',
  });
  readonly #over = new AbortController();
  readonly wire = new Wire(this.host, this.#over.signal);

  /** Starts the host and registers the workflows. */
  async begin(): Promise<Birth> {
    const birth = await this.host.start();
    if (birth.kind !== 'ready') return birth;
    for (const definition of crashWorkflows) {
      await this.wire.post({ path: '/v1/workflows', body: definition as never });
    }
    return birth;
  }

  /** Starts the patrons. */
  work(patrons: number, seed: string): Work {
    const over = new AbortController();
    const wire = new Wire(this.host, AbortSignal.any([over.signal, this.#over.signal]));
    const random = createRandom(seed);
    let finishing = false;
    const working = Array.from({ length: patrons }, (_, index) => {
      const name = `${seed}-${index}`;
      return patron({ name, wire, witness: this.witness, random: random.fork(name), finishing: () => finishing });
    });
    const all = Promise.all(working);
    all.catch(() => undefined);
    return {
      async finish() {
        finishing = true;
        await all;
      },
      async abandon() {
        over.abort();
        await all.catch(() => undefined);
      },
    };
  }

  /** Sends one request without retries, and returns the response. */
  async ask(
    method: string,
    path: string,
    body?: JsonObject,
  ): Promise<{ readonly status: number; readonly body: JsonObject }> {
    const response = await this.host.fetch(path, {
      method,
      headers: { authorization: `Bearer ${this.host.settings.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: fields(await response.json()) };
  }

  /** Checks the whole store against everything that was acknowledged. The host must be down. */
  audit(): Promise<Audited> {
    return auditStore(this.host.settings, this.witness);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.host.kill();
    await rm(this.home, { recursive: true, force: true });
  }
}
