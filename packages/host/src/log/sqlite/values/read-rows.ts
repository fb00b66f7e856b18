/** Reads rows whose large values are stored apart. Rows that hold the same value share it. */
import type { ContextId, Json, RunId } from '@cairn/protocol';
import { ROW_OVERHEAD_BYTES } from '../../ports/row-bytes.ts';
import type { Row } from '../../ports/rows.ts';
import { CopiedRow } from '../../values/copied-row.ts';
import { type CutText, cutTextSize, type PlacedValue, parseCutText, wholeText } from '../../values/cut-text.ts';
import { type EventColumns, rowOf } from '../columns.ts';
import type { Cuts } from './large-values.ts';
import type { FindValue } from './shared-values.ts';

/** Turns the columns of an event into a row with whole texts. */
export type ToRow = (runId: RunId, contextId: ContextId, columns: EventColumns) => Row;

export function rowReader(find: FindValue): ToRow {
  return (runId, contextId, columns) => {
    const row = rowOf(runId, contextId, columns);
    const missing = columns[11];
    if (missing === null) return row;
    const [inPayload, inTask]: readonly [Cuts, Cuts] = JSON.parse(missing);
    const { payload, task } = row;
    return new RowOfValues(row, {
      // An empty payload was not read.
      payload: { kept: payload, values: payload === '' ? [] : placed(inPayload, find) },
      task: task === null ? null : { kept: task, values: placed(inTask, find) },
    });
  };
}

function placed(cuts: Cuts, find: FindValue): readonly PlacedValue[] {
  const values: PlacedValue[] = [];
  for (let i = 0; i < cuts.length; i += 2) values.push({ place: cuts[i] ?? 0, value: find(cuts[i + 1] ?? 0) });
  return values;
}

class RowOfValues extends CopiedRow {
  readonly #payload: CutText;
  readonly #task: CutText | null;

  constructor(row: Row, { payload, task }: { readonly payload: CutText; readonly task: CutText | null }) {
    super(row, { payload: wholeText(payload), task: task === null ? null : wholeText(task) });
    this.#payload = payload;
    this.#task = task;
  }

  get bytes(): number {
    return ROW_OVERHEAD_BYTES + cutTextSize(this.#payload) + (this.#task === null ? 0 : cutTextSize(this.#task));
  }

  get value(): Json {
    return parseCutText(this.#payload);
  }
}
