/** Compares the index of a run that its rows give with what the tables hold. */
import type { FullIndex } from '../../fold-run-index.ts';
import type { ReportProblem } from './problem.ts';

export function compareIndex(
  fresh: Pick<FullIndex, 'record' | 'interrupts'>,
  stored: Pick<FullIndex, 'record' | 'interrupts'>,
  report: ReportProblem,
): void {
  for (const [field, value] of different(fresh.record, stored.record))
    report(null, `the run list has ${value} as ${field}, but the events say otherwise`);
  for (const [id, interrupt] of fresh.interrupts) {
    const kept = stored.interrupts.get(id);
    if (kept === undefined) report(interrupt.seq, `the inbox lacks the interrupt ${JSON.stringify(id)}`);
    else
      for (const [field, value] of different(interrupt, kept))
        report(interrupt.seq, `the inbox has ${value} as ${field} of an interrupt, but the events say otherwise`);
  }
  for (const [id, { seq }] of stored.interrupts)
    if (!fresh.interrupts.has(id))
      report(seq, `the inbox has an interrupt ${JSON.stringify(id)} that no event requested`);
}

/** The fields of a stored record that differ from the folded one, with the stored value. */
function* different<Fields extends object>(fresh: Fields, stored: Fields): Generator<[field: string, value: string]> {
  const kept = new Map<string, unknown>(Object.entries(stored));
  for (const [field, value] of Object.entries(fresh)) {
    const found = JSON.stringify(kept.get(field));
    if (found !== JSON.stringify(value)) yield [field, (found ?? 'nothing').slice(0, 80)];
  }
}
