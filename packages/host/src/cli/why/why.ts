/** `cairn why`: shows the chain of causes from an event to the first one, across runs and hosts. */
import { exit } from '../exit.ts';
import { type HostFlags, withHost } from '../find-host.ts';
import { jsonLine, type Style, safe, styleOf } from '../render/style.ts';
import { runNamed } from '../run-name.ts';
import type { Terminal } from '../terminal.ts';
import { namedHosts } from './named-hosts.ts';
import { type CauseStep, type Walk, walkCauses } from './walk-causes.ts';

export interface WhyFlags extends HostFlags {
  readonly hosts?: string;
  readonly maxRuns?: number;
}

const MAX_RUNS = 32;

/** From the last event of the run if none is named. Exits with 1 if the walk does not reach an event that nothing caused. */
export function why(terminal: Terminal, name: string, event: number | undefined, flags: WhyFlags): Promise<number> {
  const hostNamed = namedHosts(flags.hosts, terminal);
  return withHost(terminal, flags, async (client) => {
    const runId = await runNamed(client, name);
    const sequence = event ?? 'last';
    const walk = await walkCauses(client, { runId, sequence, maxRuns: flags.maxRuns ?? MAX_RUNS, hostNamed });
    if (flags.json === true) terminal.print(jsonLine(walk));
    else for (const line of whyLines(walk, styleOf(terminal.colours.out))) terminal.print(line);
    return walk.end.kind === 'root' ? exit.ok : exit.failed;
  });
}

function* whyLines({ steps, end }: Walk, style: Style): Generator<string> {
  let last: CauseStep | null = null;
  for (const step of steps) {
    const isElsewhere = last !== null && step.hostId !== last.hostId;
    if (last?.runId !== step.runId || isElsewhere) {
      if (last !== null) yield style.dim(isElsewhere ? '  requested from another host by' : '  requested by');
      yield `${style.bold(safe(step.runId))}  ${style.dim(`on ${safe(step.hostId)}`)}`;
    }
    yield stepLine(step, style);
    const { remote } = step.event;
    if (remote !== undefined) yield style.dim(`         it ran ${safe(remote.runId)} on ${safe(remote.hostId)}`);
    last = step;
  }
  if (end.kind === 'root') yield style.dim('Nothing caused this event: somebody asked for the run.');
  else yield style.yellow(`The walk ends here: ${safe(end.why)}`);
}

function stepLine({ event }: CauseStep, style: Style): string {
  const { sequence, type, nodeId, agentId, timestamp } = event;
  const what = type === undefined ? style.dim('an event for operators (audit:read)') : safe(type);
  const who = [agentId, nodeId].flatMap((text) => (text === undefined ? [] : [safe(text)]));
  return `  ${String(sequence).padStart(5)}  ${what}${who.length === 0 ? '' : `  ${style.cyan(who.join(' '))}`}  ${style.dim(safe(timestamp))}`;
}
