/** `cairn diff`: shows what two runs did differently. Exits like `diff`: 0 if nothing differs, 1 if something does. */
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { diffPage, isEqual } from './render/diff-page.ts';
import { jsonLine, styleOf } from './render/style.ts';
import { runNamed } from './run-name.ts';
import type { Terminal } from './terminal.ts';

export interface DiffFlags extends HostFlags {
  readonly limit?: number;
}

export function diff(terminal: Terminal, names: readonly [string, string], flags: DiffFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const [a, b] = [await runNamed(client, names[0]), await runNamed(client, names[1])];
    const { limit } = flags;
    const found = await client.runs.diff(a, b, limit === undefined ? {} : { limit });
    if (flags.json === true) terminal.print(jsonLine(found));
    else {
      const place = { style: styleOf(terminal.colours.out), columns: terminal.columns };
      for (const line of diffPage(found, place)) terminal.print(line);
    }
    return isEqual(found) ? exit.ok : exit.failed;
  });
}
