/** What the host says that it can do, from its discovery document. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';
import { Mark } from '../parts/status.tsx';
import { Folded, Value } from '../run/marks.tsx';

export function Capabilities() {
  const discovery = useQuery({
    queryKey: ['discovery'],
    queryFn: ({ signal }) => host.discovery({ signal }),
    staleTime: 60_000,
  });
  const document = discovery.data as JsonObject | undefined;
  const implementation = isJsonObject(document?.implementation) ? document.implementation : {};
  return (
    <section className="panel system-panel" aria-labelledby="capabilities">
      <header className="system-head">
        <h2 id="capabilities">Capabilities</h2>
        <span className="second">
          {document !== undefined &&
            `${String(implementation.name ?? '')} ${String(implementation.version ?? '')}, protocol ${String(document.protocolVersion)}`}
        </span>
      </header>
      {discovery.isError && <Problem error={discovery.error} onRetry={() => void discovery.refetch()} />}
      {document === undefined ? (
        <span className="bone" aria-hidden="true" />
      ) : (
        <>
          <ul className="capabilities">
            {switchesIn(document).map(({ name, isOn }) => (
              <li key={name} className="status" data-tone={isOn ? 'done' : 'none'}>
                <Mark tone={isOn ? 'done' : 'none'} />
                {name}
                <span className="only-read">{isOn ? ' yes' : ' no'}</span>
              </li>
            ))}
          </ul>
          <Folded title={<span className="second">The whole document</span>}>{() => <Value of={document} />}</Folded>
        </>
      )}
    </section>
  );
}

interface Switch {
  readonly name: string;
  readonly isOn: boolean;
}

/** Every part of the document that says whether it is supported, by its path. */
function switchesIn(document: JsonObject, path: readonly string[] = []): readonly Switch[] {
  if (path.length > 4) return [];
  const own = typeof document.supported === 'boolean' && path.length > 0;
  const below = Object.entries(document).flatMap(([name, value]: [string, Json]) =>
    isJsonObject(value) ? switchesIn(value, [...path, name]) : [],
  );
  return own ? [{ name: path.join('.'), isOn: document.supported === true }, ...below] : below;
}
