/**
 * Reads and validates `pack.json`: it must be JSON, of the pack kind that hosts install, and match the protocol's
 * schema.
 */
import { isUtf8 } from 'node:buffer';
import { type PackManifest, packManifest, quoted, TerminalError } from '@cairn/protocol';
import { MANIFEST, type PackFiles } from './pack-files.ts';
import { packJson, reasonOf } from './pack-json.ts';

export function readManifest(files: PackFiles): PackManifest {
  const content = files.get(MANIFEST);
  if (content === undefined) {
    throw new TerminalError('tarball_manifest_missing', {
      message: `There is no ${MANIFEST} at the root of the pack.`,
      hint: 'Make the archive from inside the folder of the pack; "cairn pack init" makes one to begin with.',
    });
  }
  const value = jsonOf(content);
  checkKind(value);
  const result = packManifest.safeParse(value);
  if (!result.success) throw invalidManifest(result.error.issues);
  checkTwins(result.data);
  return result.data;
}

function jsonOf(content: Buffer): unknown {
  try {
    if (!isUtf8(content)) throw new Error('it is not UTF-8');
    return packJson(content.toString('utf8'));
  } catch (error) {
    throw new TerminalError('tarball_manifest_not_json', {
      message: `${MANIFEST} cannot be read: ${reasonOf(error)}.`,
      hint: '"cairn pack lint" checks a folder before it is sent.',
    });
  }
}

/**
 * Packs of prompts, chains or connections declare another kind and have another schema, so the kind is checked first.
 */
function checkKind(value: unknown): void {
  const kind = (value as { readonly kind?: unknown } | null)?.kind;
  if (kind === undefined || kind === 'node') return;
  throw new TerminalError('pack_kind_invalid', {
    message: `The pack is of the kind ${quoted(String(kind), 60)}; this host installs packs of agents.`,
    hint: `Leave kind out of ${MANIFEST}, or install the pack where its kind is known.`,
  });
}

/** Most problems listed in one error. */
const MAX_PROBLEMS = 20;

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function invalidManifest(issues: readonly Issue[]): TerminalError {
  const problems = issues.map(({ path, message }) => ({ path: path.map(String).join('.'), problem: message }));
  const [first] = problems;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  return new TerminalError('invalid_manifest', {
    message: `${MANIFEST} is not valid: ${where}${first?.problem ?? 'unknown problem'}.`,
    hint: 'Correct what details.problems lists; "cairn pack lint" checks a folder before it is sent.',
    details: { problems: problems.slice(0, MAX_PROBLEMS) },
  });
}

function checkTwins({ agents = [] }: PackManifest): void {
  const seen = new Set<string>();
  for (const [i, { agentId }] of agents.entries()) {
    if (seen.has(agentId)) throw invalidManifest([{ path: ['agents', i, 'agentId'], message: 'is there twice' }]);
    seen.add(agentId);
  }
}
