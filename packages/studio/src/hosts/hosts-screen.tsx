/** The peers of this host, and a check of what works between the two: versions, a trace, a cause. */
import type { PeerList } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { useScope } from '../app/session.ts';
import { Command, CopyButton } from '../parts/copied.tsx';
import { DocsLink } from '../parts/docs-link.tsx';
import { Problem } from '../parts/problem.tsx';
import '../run/run.css';
import './hosts.css';
import { PeerCheck } from './peer-check.tsx';
import { peersQuery } from './peers-query.ts';

export function HostsScreen() {
  const mayRead = useScope('audit:read');
  const peers = useQuery({ ...peersQuery, enabled: mayRead });
  if (!mayRead) return <NotAllowed />;
  if (peers.isError)
    return (
      <div className="state">
        <Problem error={peers.error} onRetry={() => void peers.refetch()} />
      </div>
    );
  if (peers.data?.peers.length === 0) return <Nothing hostId={peers.data.hostId} />;
  return (
    <div className="hosts">
      <h1 className="label">Other hosts of the configuration</h1>
      <Self hostId={peers.data?.hostId ?? null} />
      {peers.data === undefined ? (
        <div className="panel peer bones" aria-busy="true">
          <span className="bone" />
          <span className="bone" />
        </div>
      ) : (
        peers.data.peers.map((peer) => <Peer key={peer.hostId} peer={peer} />)
      )}
    </div>
  );
}

const Self = ({ hostId }: { readonly hostId: string | null }) => (
  <p className="second self">
    This host is {hostId === null ? <span className="bone" /> : <code>{hostId}</code>}
    {hostId !== null && <CopyButton text={hostId} />}
  </p>
);

type PeerEntry = PeerList['peers'][number];

const Peer = ({ peer }: { readonly peer: PeerEntry }) => (
  <article className="panel peer" aria-label={peer.hostId}>
    <header className="peer-head">
      <h2 className="cut">{peer.hostId}</h2>
      <code className="second cut">{peer.url}</code>
    </header>
    <dl className="facts">
      <div>
        <dt>May start runs here</dt>
        <dd>{peer.hasKey ? 'yes, a key belongs to it' : 'no, no key belongs to it'}</dd>
      </div>
      <div>
        <dt>Answers for its users</dt>
        <dd>{peer.answersForUsers ? 'yes' : 'no'}</dd>
      </div>
      <div>
        <dt>This host may call</dt>
        <dd>{peer.calls.length === 0 ? 'nothing there' : peer.calls.join(', ')}</dd>
      </div>
    </dl>
    <PeerCheck hostId={peer.hostId} />
  </article>
);

const Nothing = ({ hostId }: { readonly hostId: string }) => (
  <div className="state">
    <h2>This host knows no other host</h2>
    <p>
      A run can cause work on another host, and be caused by it. Add a host to the configuration, and start this one
      again:
    </p>
    <Command text="npx cairn peer add https://beta.example.org" />
    <Self hostId={hostId} />
    <DocsLink page="guides/cross-host">How two hosts work together</DocsLink>
  </div>
);

const NotAllowed = () => (
  <div className="state">
    <h2>Hosts are for operators</h2>
    <p>The peers belong to the whole host. To see them, sign in with a key that has the scope audit:read.</p>
    <Command text="npx cairn peer list" />
  </div>
);
