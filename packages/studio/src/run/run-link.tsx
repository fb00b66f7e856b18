/** A link to another run, or to one of its events. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { shortId } from '../parts/figures.ts';

interface RunLinkProps {
  readonly to: string;
  /** The sequence of the event to select. */
  readonly event?: number;
  readonly children?: ReactNode;
}

export function RunLink({ to, event, children }: RunLinkProps) {
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: to }}
      search={event === undefined ? {} : { event }}
      className="id"
      title={to}
    >
      {children ?? shortId(to)}
    </Link>
  );
}
