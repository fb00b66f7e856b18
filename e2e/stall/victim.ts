/** The parent's side of the victim. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Gaps } from './victim-main.ts';

export class Victim implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** `hostPid` is the process that serves it. */
  static async start(url: string, hostPid: number): Promise<Victim> {
    const child = fork(join(import.meta.dirname, 'victim-main.ts'), [url, String(hostPid)], {
      execArgv: ['--conditions=@cairn/source', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    if (message !== 'ready') throw new Error(`The victim could not begin: ${message}.`);
    return new Victim(child);
  }

  /** What was measured since the last call. */
  async gaps(): Promise<Gaps> {
    this.#child.send('report');
    const [gaps] = await once(this.#child, 'message');
    return gaps;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }
}
