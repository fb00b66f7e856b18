/** What differs between two versions of an artifact, line by line. */
import { type LineDiff, lineDiff, linesOf } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { Hunks } from '../compare/changes.tsx';
import '../compare/compare.css';
import { Problem } from '../parts/problem.tsx';
import { pretty } from '../run/words.ts';
import { contentOfReading } from './content.ts';
import type { Content } from './preview.tsx';

interface VersionDiffProps {
  readonly contextId: string;
  readonly artifactId: string;
  readonly family: 'file' | 'data' | 'dataset';
  readonly from: number;
  readonly to: number;
}

type Compared = LineDiff | 'not-texts' | 'too-different';

export function VersionDiff({ contextId, artifactId, family, from, to }: VersionDiffProps) {
  const diff = useQuery({
    queryKey: ['artifact-diff', contextId, artifactId, from, to],
    queryFn: async ({ signal }): Promise<Compared> => {
      const read = async (version: number) => {
        const reading = await host.context(contextId).artifacts.read(artifactId, { version, signal });
        return textIn(await contentOfReading(reading, { family, name: artifactId, address: '' }));
      };
      const [a, b] = await Promise.all([read(from), read(to)]);
      return a === null || b === null ? 'not-texts' : compared(a, b, signal);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (diff.isError) return <Problem error={diff.error} onRetry={() => void diff.refetch()} />;
  if (diff.data === undefined) return <span className="bone" aria-hidden="true" />;
  if (diff.data === 'not-texts')
    return <p className="second">These versions are no texts. Download both to compare them.</p>;
  if (diff.data === 'too-different') return <p className="second">These versions differ in nearly every line.</p>;
  return <Changes diff={diff.data} from={from} to={to} />;
}

function Changes({ diff, from, to }: { readonly diff: LineDiff; readonly from: number; readonly to: number }) {
  const { added, removed, hunks, leftOut } = diff;
  if (hunks.length === 0)
    return (
      <p className="second">
        Versions {from} and {to} have the same content.
      </p>
    );
  return (
    <>
      <p className="second figure">
        From version {from} to {to}: {counted(added)} added, {counted(removed)} removed
        {leftOut > 0 && `, ${leftOut} not shown here`}.
      </p>
      <Hunks hunks={hunks} />
    </>
  );
}

const counted = (lines: number): string => `${lines} ${lines === 1 ? 'line' : 'lines'}`;

function textIn(content: Content): string | null {
  if (content.is === 'text') return content.text;
  if (content.is === 'data') return pretty(content.data, MAX_TEXT);
  if (content.is === 'rows') return content.rows.map((row) => JSON.stringify(row)).join('\n');
  return null;
}

const MAX_TEXT = 2_000_000;
/** Characters of changed lines that are shown. */
const MAX_SHOWN = 200_000;
/** A page that compares still answers to its keys. */
const TURN_MS = 8;

async function compared(a: string, b: string, signal: AbortSignal): Promise<Compared> {
  const slices = lineDiff(linesOf(a), linesOf(b), { characters: MAX_SHOWN, cut: 0 });
  for (let began = performance.now(); ; ) {
    const { done, value } = slices.next();
    if (done === true) return value ?? 'too-different';
    if (performance.now() - began < TURN_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    began = performance.now();
  }
}
