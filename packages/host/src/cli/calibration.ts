/** `cairn calibration`: compares the stated confidence of agents with human verdicts. */
import type { Client } from '@cairn/client';
import type { Calibration } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { jsonLine, oneLine, safe, styleOf } from './render/style.ts';
import { table } from './render/table.ts';
import type { Terminal } from './terminal.ts';

export function calibration(terminal: Terminal, flags: HostFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const found = await complete(client);
    if (flags.json === true) terminal.print(jsonLine(found));
    else if (found.agents.length === 0) terminal.tell('No agent has stated a confidence yet.');
    else {
      const options = { style: styleOf(terminal.colours.out), columns: terminal.columns, header: HEADER };
      for (const line of table(found.agents.flatMap(rows), options)) terminal.print(line);
    }
    return exit.ok;
  });
}

/** A host reads a long log in several requests. The limit guards against a host that never completes. */
const MAX_REQUESTS = 1_000;

async function complete(client: Client): Promise<Calibration> {
  let found = await client.calibration();
  for (let asked = 1; !found.complete && asked < MAX_REQUESTS; asked++) found = await client.calibration();
  return found;
}

const HEADER = ['AGENT', 'CONFIDENCE', 'STATED', 'HELD', 'APPROVED', 'EDITED', 'REJECTED', 'AGREED'];

type Agent = Calibration['agents'][number];

const rows = ({ agentId, buckets }: Agent): string[][] =>
  buckets.map(({ from, to, stated, held, approved, edited, rejected }, i) => {
    const verdicts = approved + edited + rejected;
    return [
      i === 0 ? safe(agentId) : '',
      `${from.toFixed(1)} to ${to.toFixed(1)}`,
      ...[stated, held, approved, edited, rejected].map((count) => oneLine(count)),
      verdicts === 0 ? '-' : `${Math.round((100 * approved) / verdicts)} %`,
    ];
  });
