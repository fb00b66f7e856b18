/** The operator's tool policy, as the rules in a record quote it. `allowlist.ts` writes these rules. */
import type { ToolLines } from '../allowlist.ts';

/** One quoted line of a list: `tools.allow[2] "acme:*"`. A record may hold any text, so the index is bounded. */
const quotedLine = /^(.*)\[(\d{1,4})\] "([^"\\]*)"$/s;
const starMissing = / counts only where (.*) has "\*"$/s;
const lineMissing = /^(.*) has no line for /s;
const listEmpty = /^(.*) is empty$/s;

/** Lists that the manifest and the run have, which are in the record themselves. */
const others: readonly string[] = ['toolAllowlist', 'cairn.tools'];

export class RecordedPolicy {
  #name = 'tools.allow';
  readonly #lines = new Map<number, string>();
  /** Tools that passed by a line that no rule quotes. */
  readonly #passed = new Set<string>();
  /** A list with `*` denies nothing. */
  #deniesNothing = true;
  #built: ToolLines | null = null;

  get lines(): ToolLines {
    this.#built ??= this.#build();
    return this.#built;
  }

  /** A rule that allowed a call: the line of the manifest, then that of the policy. */
  allowed(rule: string): void {
    const [, policy = ''] = rule.split('; ');
    const [, name, index, line] = quotedLine.exec(policy) ?? [];
    if (name === undefined || line === undefined) return;
    if (this.#name === name && this.#lines.get(Number(index)) === line) return;
    if (this.#name !== name) this.#lines.clear();
    this.#name = name;
    this.#lines.set(Number(index), line);
    this.#built = null;
  }

  denied(rule: string, toolId: string): void {
    const named = starMissing.exec(rule)?.[1] ?? lineMissing.exec(rule)?.[1] ?? listEmpty.exec(rule)?.[1];
    if (named === 'cairn.tools' || rule.startsWith(`${toolId} needs `)) this.passed(toolId);
    if (named === undefined || others.includes(named)) return;
    this.#name = named;
    this.#deniesNothing = false;
    // A list without a line for the tool has lines for others.
    if (lineMissing.test(rule) && this.#lines.size === 0) this.#lines.set(0, '');
    this.#built = null;
  }

  /** The tool was stopped only by something that is looked at later. */
  passed(toolId: string): void {
    this.#passed.add(toolId);
    this.#built = null;
  }

  /** A line that no rule quotes matches nothing. */
  #build(): ToolLines {
    const last = Math.max(-1, ...this.#lines.keys());
    const quoted = Array.from({ length: last + 1 }, (_, i) => this.#lines.get(i) ?? '');
    return { name: this.#name, lines: [...quoted, ...this.#passed, ...(this.#deniesNothing ? ['*'] : [])] };
  }
}
