/** Makes installs reproducible: every version is exact, and the lockfile contains no registry address. */
import type { Finding } from './finding.ts';
import { filesOf, lineAt, textOf } from './tree.ts';

const exact = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'] as const;

type Manifest = { readonly [K in (typeof kinds)[number]]?: Readonly<Record<string, unknown>> };

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly link?: boolean }>>;
}

export function checkVersions(root: string): readonly Finding[] {
  const files = filesOf(root);
  const manifests = files.filter((path) => /(^|\/)package\.json$/.test(path));
  const findings = manifests.flatMap((path) => rangesIn(path, textOf(root, path)));
  const lockfiles = files.filter((path) => /(^|\/)package-lock\.json$/.test(path));
  return [...findings, ...lockfiles.flatMap((path) => addressesIn(path, textOf(root, path)))];
}

function rangesIn(file: string, text: string): readonly Finding[] {
  const manifest: Manifest = JSON.parse(text);
  return kinds.flatMap((kind) =>
    Object.entries(manifest[kind] ?? {})
      .filter(([, version]) => typeof version !== 'string' || !exact.test(version))
      .map(([name, version]) => ({
        file,
        line: lineAt(text, text.indexOf(`"${name}"`)),
        message: `${kind}.${name} is ${JSON.stringify(version)}; write the exact version.`,
      })),
  );
}

function addressesIn(file: string, text: string): readonly Finding[] {
  const { packages }: Lockfile = JSON.parse(text);
  return Object.entries(packages)
    .filter(([, entry]) => entry.resolved !== undefined && entry.link !== true)
    .map(([name, { resolved }]) => ({
      file,
      message: `${name} is resolved to ${resolved}; install with omit-lockfile-registry-resolved=true.`,
    }));
}
