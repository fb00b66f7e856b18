/** The figures that one looks at first. */
import { shortCount } from '../parts/figures.ts';
import { bytes } from '../run/words.ts';
import { type Metrics, metricValue } from './prometheus.ts';

interface FigureProps {
  readonly name: string;
  readonly value: string | null;
  readonly about: string;
}

export function Figures({ metrics }: { readonly metrics: Metrics | null }) {
  const value = (name: string) => (metrics === null ? null : metricValue(metrics, name));
  const size = value('cairn_store_size_bytes');
  const wal = value('cairn_log_wal_size_bytes');
  const rows = value('cairn_log_rows_total');
  const commits = value('cairn_log_commits_total') ?? 0;
  const figures: readonly FigureProps[] = [
    { name: 'Store', ...(metrics === null ? { value: null, about: '' } : storeOf(size, wal, rows)) },
    {
      name: 'Events written',
      value: rows === null ? (metrics === null ? null : '–') : shortCount(rows),
      about: rows === null ? 'not counted in memory' : `in ${shortCount(commits)} commits`,
    },
    { name: 'Runs', value: counted(value('openwop_run_active')), about: 'have not ended' },
    { name: 'Queue', value: counted(value('openwop_queue_depth')), about: 'due, and nobody steps them' },
    {
      name: 'Subscribers',
      value: counted(value('cairn_streams_open')),
      about: `streams, and ${value('cairn_polls_open') ?? 0} long polls`,
    },
    {
      name: 'Memory',
      value: sized(value('process_resident_memory_bytes')),
      about: 'of the process',
    },
  ];
  return (
    <dl className="figures">
      {figures.map(({ name, value: shown, about }) => (
        <div key={name} className="panel">
          <dt>{name}</dt>
          <dd className="figure">{shown ?? <span className="bone" />}</dd>
          <dd className="label">{metrics === null ? '\u00a0' : about}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A store in memory counts nothing; a database of others counts what it wrote, and not its size. */
function storeOf(size: number | null, wal: number | null, rows: number | null) {
  if (size !== null) return { value: bytes(size), about: `${bytes(wal ?? 0)} write-ahead log` };
  if (rows !== null) return { value: 'PostgreSQL', about: 'the database tells its size' };
  return { value: 'in memory', about: 'gone when the host stops' };
}

const counted = (value: number | null): string | null => (value === null ? null : shortCount(value));
const sized = (value: number | null): string | null => (value === null ? null : bytes(value));
