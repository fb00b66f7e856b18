/** Cancels the selected runs, after a question that says how many. */
import type { RunSnapshot, RunsCancelled } from '@cairn/protocol';
import { useMutation } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { Dialog } from '../parts/dialog.tsx';
import { shortId } from '../parts/figures.ts';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { isOver, titleOf } from './run-facts.ts';

interface BulkCancelProps {
  readonly runs: readonly RunSnapshot[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Rows of the dialog. The rest is told as a number. */
const MAX_SHOWN = 8;

export function BulkCancel({ runs, onClose, onDone }: BulkCancelProps) {
  const open = runs.filter((run) => !isOver(run));
  const cancel = useMutation({
    mutationFn: () =>
      host.runs.bulkCancel(
        open.map(({ runId }) => runId),
        'Cancelled in Studio.',
      ),
    onSuccess: (answer) => {
      if (refusedIn(answer).length === 0) onDone();
    },
  });
  const refused = cancel.data === undefined ? [] : refusedIn(cancel.data);
  const count = `${open.length} ${open.length === 1 ? 'run' : 'runs'}`;
  return (
    <Dialog label="Cancel runs" className="confirm" onClose={onClose}>
      <h2>{open.length === 0 ? 'All of these runs have ended' : `Cancel ${count}?`}</h2>
      {open.length > 0 && (
        <p className="second">
          {open.length === 1 ? 'Its' : 'Their'} child runs are cancelled too. This cannot be undone.
        </p>
      )}
      <ul>
        {open.slice(0, MAX_SHOWN).map((run) => (
          <li key={run.runId}>
            <Status status={run.status} iconOnly />
            <span className="cut">{titleOf(run) ?? run.workflowId}</span>
            <span className="id">{shortId(run.runId)}</span>
          </li>
        ))}
        {open.length > MAX_SHOWN && <li className="second">and {open.length - MAX_SHOWN} more</li>}
      </ul>
      {cancel.isError && <Problem error={cancel.error} />}
      {refused.map(({ runId, error }) => (
        <p className="problem" role="alert" key={runId}>
          {shortId(runId)}: {error?.message ?? 'could not be cancelled.'}
        </p>
      ))}
      <footer>
        <button type="button" className="button" onClick={onClose}>
          {refused.length > 0 ? 'Close' : 'Keep running'}
        </button>
        {open.length > 0 && refused.length === 0 && (
          <button
            type="button"
            className="button"
            data-kind="danger"
            disabled={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            Cancel {count}
          </button>
        )}
      </footer>
    </Dialog>
  );
}

const refusedIn = ({ results }: RunsCancelled) => results.filter(({ ok }) => !ok);
