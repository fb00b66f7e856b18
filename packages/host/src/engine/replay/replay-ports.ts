/**
 * The ports of a run that is a replay. Every port by which a run reaches the outside is denied: to use one is a defect,
 * which stops the run. A new port does not compile until it is decided here whether a replay may use it.
 */
import { type RunId, TerminalError } from '@cairn/protocol';
import type { MailboxPorts } from '../stepping/mailbox-ports.ts';

/** `deny`: effects, waits and secrets. `allow`: the log, the record, and what bounds the work of the host. */
export const replayPorts = {
  store: 'allow',
  clock: 'allow',
  sha256: 'allow',
  /** Models, tools, steps and child runs. */
  performers: 'deny',
  loader: 'allow',
  owner: 'allow',
  leaseMs: 'allow',
  limits: 'allow',
  report: 'allow',
  stopped: 'allow',
  turns: 'allow',
  crashes: 'allow',
  shares: 'allow',
  redactor: 'allow',
  /** Values that only effects may see. */
  secretsOf: 'deny',
  sealing: 'deny',
  /** A replay waits for no timer. */
  shortWaits: 'deny',
  /** Only tells the scheduler of this host that the run may be claimed, for example when its lease is given back. */
  wakeBy: 'allow',
  sources: 'allow',
  /** Results that a branch reuses; a replay follows `sources`. */
  recorded: 'deny',
  /** Parents and children belong to the source. */
  tellRelatives: 'deny',
  isUnwanted: 'deny',
  emptied: 'allow',
} as const satisfies Readonly<Record<keyof MailboxPorts, 'allow' | 'deny'>>;

const isAllowed = (port: string): boolean =>
  Object.hasOwn(replayPorts, port) && Reflect.get(replayPorts, port) === 'allow';

/** The ports as a replay has them. One that the table does not know is denied. */
export function portsOfReplay(ports: MailboxPorts, runId: RunId): MailboxPorts {
  const denied = Object.keys(ports).filter((port) => !isAllowed(port));
  return { ...ports, ...Object.fromEntries(denied.map((port) => [port, refusing(port, runId)])) };
}

/** Stands for any port. It may be passed on; to call it, or to look into it, is a defect. */
function refusing(port: string, runId: RunId): never {
  const refuse = (): never => {
    throw new TerminalError('internal_error', {
      message: `Broken invariant replay-performs-nothing: run ${runId} would use ${port}.`,
    });
  };
  return new Proxy(refuse, { apply: refuse, get: refuse }) as never;
}
