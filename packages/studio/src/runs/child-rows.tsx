/** Rows below an open run that are no runs: the way to all of its children, and why they could not be read. */
import { Link } from '@tanstack/react-router';
import { placed, type RowPlace } from './run-row.tsx';

interface MoreProps extends RowPlace {
  readonly parentRunId: string;
}

export const MoreChildren = ({ parentRunId, row, top, depth }: MoreProps) => (
  <li className="run-row" aria-posinset={row + 1} aria-setsize={-1} style={placed(top, depth)}>
    <span className="pick" />
    <span className="status-cell" />
    <span className="title more-children">
      <span className="unfold" />
      <Link to="/runs" search={{ parent: parentRunId }} tabIndex={-1}>
        Show all child runs
      </Link>
    </span>
  </li>
);

interface FailedProps extends RowPlace {
  readonly error: unknown;
}

export const ChildrenFailed = ({ error, row, top, depth }: FailedProps) => (
  <li className="run-row" aria-posinset={row + 1} aria-setsize={-1} style={placed(top, depth)}>
    <span className="pick" />
    <span className="status-cell" />
    <span className="title">
      <span className="unfold" />
      <span className="failure cut" role="alert">
        The child runs could not be read: {error instanceof Error ? error.message : String(error)}
      </span>
    </span>
  </li>
);
