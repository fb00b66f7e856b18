/** The first own rows of runs that are forked because another run of their tree is. */
import { type PayloadOf, row } from '@cairn/protocol';
import type { NewRow } from '../../log/ports/rows.ts';
import { stamp } from '../core/stamp.ts';
import type { ForkRun } from '../engine.ts';
import { handedDown } from '../family/inheritance.ts';
import type { ForkPorts } from './fork-ports.ts';
import { forkedPayload } from './forked-payload.ts';
import type { CutRun } from './tree-cut.ts';

interface Relative {
  readonly request: ForkRun;
  readonly run: CutRun;
  readonly cutAt: number;
  /** Whether the run is below the one that the fork is about, and so inherits its options. */
  readonly isBelow: boolean;
}

/** The inputs, the answer and the result of the overlay are for the run that the fork is about; prompts are for all. */
export function relativeRows(ports: ForkPorts, { request, run, cutAt, isBelow }: Relative): readonly NewRow[] {
  const { state, workflow } = run;
  const payload = forkedPayload(request, run, cutAt);
  const { configurable } = ports.redaction.overlay(request.options ?? {});
  const inherited = isBelow ? handedDown(configurable ?? null) : {};
  const prompts = request.overlay?.prompts;
  const overlay: PayloadOf<'cairn.run.forked'>['overlay'] = {
    ...(Object.keys(inherited).length === 0 ? {} : { configurable: inherited }),
    ...(prompts === undefined ? {} : { prompts: ports.redaction.overlay(prompts) }),
  };
  if (Object.keys(overlay).length > 0) payload.overlay = overlay;
  const at = Math.max(ports.clock.now(), state.now);
  return [...run.rows, ...stamp(state, workflow, [row('cairn.run.forked', payload)], at)];
}
