/** What each tenant uses of its share: all of them for an operator, else your own. */
import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { Problem } from '../parts/problem.tsx';
import type { Metrics } from './prometheus.ts';

interface Share {
  readonly tenant: string;
  readonly used: Readonly<Record<string, number>>;
}

const words: Readonly<Record<string, string>> = {
  activeRuns: 'Active runs',
  startsPerSecond: 'Starts per second',
  openCalls: 'Open calls',
  openStreams: 'Open streams',
};

export function Tenants({ metrics }: { readonly metrics: Metrics | null }) {
  const limits = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => host.limits({ signal }),
    refetchInterval: 5_000,
  });
  if (limits.isError)
    return (
      <section className="panel system-panel">
        <h2>Tenants</h2>
        <Problem error={limits.error} onRetry={() => void limits.refetch()} />
      </section>
    );
  const own = limits.data;
  const resources = Object.entries(own?.limits ?? {});
  const others = metrics === null ? [] : sharesIn(metrics).filter(({ tenant }) => tenant !== own?.tenant);
  const rows: readonly Share[] =
    own === undefined
      ? []
      : [
          { tenant: own.tenant, used: Object.fromEntries(resources.map(([name, { used }]) => [name, used])) },
          ...others,
        ];
  return (
    <section className="panel system-panel" aria-labelledby="tenants">
      <h2 id="tenants">Tenants</h2>
      <p className="label">What each uses of its share. A tenant that uses all of it waits; the others do not.</p>
      <table className="shares">
        <thead>
          <tr>
            <th scope="col">Tenant</th>
            {resources.map(([name, { max }]) => (
              <th scope="col" key={name}>
                {words[name] ?? name} <span className="figure">of {max.toLocaleString('en')}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.length === 0 && (
            <tr>
              <td>
                <span className="bone" />
              </td>
            </tr>
          )}
          {rows.map(({ tenant, used }) => (
            <tr key={tenant}>
              <th scope="row" className="cut">
                {tenant}
                {tenant === own?.tenant && <span className="label"> yours</span>}
              </th>
              {resources.map(([name, { max }]) => (
                <td key={name} data-label={words[name] ?? name}>
                  <Used value={used[name] ?? 0} max={max} label={`${words[name] ?? name} of ${tenant}`} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const Used = ({ value, max, label }: { readonly value: number; readonly max: number; readonly label: string }) => (
  <span className="used">
    <span className="figure">{Math.round(value * 10) / 10}</span>
    <meter min={0} max={Math.max(max, 1)} value={Math.min(value, max)} aria-label={label} />
  </span>
);

function sharesIn(metrics: Metrics): readonly Share[] {
  const shares = new Map<string, Record<string, number>>();
  for (const { labels, value } of metrics.get('cairn_tenant_used') ?? []) {
    const { openwop_tenant_id: tenant = '', resource = '' } = labels;
    shares.set(tenant, { ...shares.get(tenant), [resource]: value });
  }
  return [...shares].map(([tenant, used]) => ({ tenant, used }));
}
