/** `cairn cancel`, `cairn pause` and `cairn resume`: control a run. */
import type { Client } from '@cairn/client';
import type { RunStatus } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { lookOf } from './render/status.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import { runNamed } from './run-name.ts';
import type { Terminal } from './terminal.ts';

type Change = (client: Client, runId: string) => Promise<{ readonly runId: string; readonly status: RunStatus }>;

export interface ReasonFlags extends HostFlags {
  readonly reason?: string;
}

export interface PauseFlags extends ReasonFlags {
  /** Interrupt running nodes. */
  readonly now?: boolean;
}

export const cancel = (terminal: Terminal, name: string, flags: ReasonFlags): Promise<number> =>
  change(terminal, name, flags, (client, runId) => client.runs.cancel(runId, flags.reason));

export const pause = (terminal: Terminal, name: string, flags: PauseFlags): Promise<number> =>
  change(terminal, name, flags, (client, runId) =>
    client.runs.pause(runId, {
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(flags.now === true ? { drainPolicy: 'immediate' } : {}),
    }),
  );

export const resume = (terminal: Terminal, name: string, flags: ReasonFlags): Promise<number> =>
  change(terminal, name, flags, (client, runId) => client.runs.resume(runId, flags.reason));

function change(terminal: Terminal, name: string, flags: HostFlags, act: Change): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const changed = await act(client, await runNamed(client, name));
    if (flags.json === true) terminal.print(jsonLine(changed));
    else {
      const { mark, paint } = lookOf(changed.status, styleOf(terminal.colours.out));
      terminal.print(`${mark} ${safe(changed.runId)} is ${paint(changed.status)}`);
    }
    return exit.ok;
  });
}
