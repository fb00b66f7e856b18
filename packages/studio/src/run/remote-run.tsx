/** A run on another host. If this host knows where that is, the name leads to its Studio. */
import { useQuery } from '@tanstack/react-query';
import { useScope } from '../app/session.ts';
import { peersQuery } from '../hosts/peers-query.ts';
import { shortId } from '../parts/figures.ts';

interface RemoteRunProps {
  readonly runId: string;
  readonly hostId: string;
}

export function RemoteRun({ runId, hostId }: RemoteRunProps) {
  const mayRead = useScope('audit:read');
  const { data } = useQuery({ ...peersQuery, enabled: mayRead });
  const peer = data?.peers.find((known) => known.hostId === hostId);
  const name = `${shortId(runId)} on ${hostId}`;
  return peer === undefined ? (
    <span title={runId}>{name}</span>
  ) : (
    <a href={`${peer.url.replace(/\/+$/, '')}/runs/${runId}`} target="_blank" rel="noreferrer" title={runId}>
      {name} ↗
    </a>
  );
}
