/**
 * The single lint command: runs every repository rule and prints each verdict. `npm run lint -- rooms cycles` runs
 * some.
 */
import { dirname } from 'node:path';
import { checkAddresses } from './lint/check-addresses.ts';
import { castTable, checkCasts } from './lint/check-casts.ts';
import { checkCycles } from './lint/check-cycles.ts';
import { checkDeepImports } from './lint/check-deep-imports.ts';
import { checkGlobals } from './lint/check-globals.ts';
import { checkImports } from './lint/check-imports.ts';
import { checkLength } from './lint/check-length.ts';
import { checkLinks } from './lint/check-links.ts';
import { checkSizes } from './lint/check-sizes.ts';
import { checkVersions } from './lint/check-versions.ts';
import { type Finding, render } from './lint/finding.ts';
import { type Source, sourcesOf } from './lint/source.ts';
import { biome, types, unused } from './lint/tools.ts';

interface Check {
  readonly name: string;
  readonly about: string;
  /** Measured figures, shown when the check is requested by name. */
  readonly figures?: (sources: readonly Source[]) => string;
  readonly run: (root: string, sources: () => readonly Source[]) => readonly Finding[] | Promise<readonly Finding[]>;
}

const checks: readonly Check[] = [
  { name: 'biome', about: 'format, imports, any, default exports', run: (root) => biome(root) },
  {
    name: 'types',
    about: 'tsc over sources, tests, e2e, bench and scripts; casts per room',
    run: async (root, sources) => [...(await types(root)), ...checkCasts(sources())],
    figures: castTable,
  },
  { name: 'unused', about: 'files, exports and dependencies nothing uses', run: (root) => unused(root) },
  { name: 'rooms', about: 'the import table', run: (_, sources) => checkImports(sources()) },
  { name: 'deep', about: 'no import inside another package', run: (_, sources) => checkDeepImports(sources()) },
  { name: 'cycles', about: 'no import cycles', run: (_, sources) => checkCycles(sources()) },
  {
    name: 'pure',
    about: 'no clock, chance, timer, network in pure rooms',
    run: (_, sources) => checkGlobals(sources()),
  },
  { name: 'length', about: 'no file over the cap', run: (_, sources) => checkLength(sources()) },
  { name: 'sizes', about: 'no folder and no port over its bound', run: (_, sources) => checkSizes(sources()) },
  { name: 'versions', about: 'exact versions, lockfile without addresses', run: (root) => checkVersions(root) },
  { name: 'addresses', about: 'no machine paths, no registry hosts', run: (root) => checkAddresses(root) },
  { name: 'links', about: 'paths in the pages exist', run: (root) => checkLinks(root) },
];

function chosen(names: readonly string[]): readonly Check[] {
  const unknown = names.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length === 0) return names.length === 0 ? checks : checks.filter(({ name }) => names.includes(name));
  const table = checks.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join('\n');
  const help = unknown.some((name) => name === '--help' || name === '-h');
  process.stderr.write(`${help ? '' : `No check is called ${unknown.join(', ')}. `}Checks:\n${table}\n`);
  process.exit(help ? 0 : 2);
}

async function main(): Promise<void> {
  const root = dirname(import.meta.dirname);
  let parsed: readonly Source[] | undefined;
  const sources = (): readonly Source[] => {
    parsed ??= sourcesOf(root);
    return parsed;
  };
  // Runs the checks concurrently: the three external programs take most of the time, each in its own process.
  const running = chosen(process.argv.slice(2)).map(async (check) => ({
    check,
    findings: await check.run(root, sources),
  }));
  let broken = 0;
  for (const { check, findings } of await Promise.all(running)) {
    process.stdout.write(`${findings.length === 0 ? 'ok    ' : 'BROKEN'} ${check.name.padEnd(10)} ${check.about}\n`);
    if (check.figures !== undefined && process.argv.includes(check.name))
      process.stdout.write(`${check.figures(sources()).replace(/^/gm, '    ')}\n`);
    for (const finding of findings) process.stdout.write(`${render(finding).replace(/^/gm, '    ')}\n`);
    if (findings.length > 0) broken += 1;
  }
  process.exitCode = broken === 0 ? 0 : 1;
}

await main();
