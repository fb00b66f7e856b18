/** The prompt templates of a host, by name and version. */
import { TerminalError } from '@cairn/protocol';
import semver from 'semver';
import type { PromptTemplate } from '../../engine/ports.ts';
import { type PromptRef, parseTemplate, refText } from './prompt-template.ts';

/** The versions of each template, newest first. */
type Templates = ReadonlyMap<string, readonly PromptTemplate[]>;

export class PromptRegistry {
  #templates: Templates;

  /** Throws `config_invalid` for an invalid or duplicate template. */
  constructor(templates: readonly unknown[]) {
    this.#templates = byName(templates.map(parseTemplate));
  }

  /** Throws like the constructor, and then keeps the templates it has. */
  replace(templates: readonly unknown[]): void {
    this.#templates = byName(templates.map(parseTemplate));
  }

  lookup(ref: PromptRef): PromptTemplate | undefined {
    const versions = this.#templates.get(ref.templateId) ?? [];
    return versions.find(({ version }) => ref.version === undefined || version === ref.version);
  }

  /** The newest version of each template of a kind, by name. */
  newest(kind: PromptTemplate['kind']): readonly PromptTemplate[] {
    return [...this.#templates.values()]
      .flatMap(([newest]) => (newest?.kind === kind ? [newest] : []))
      .sort((a, b) => (a.templateId < b.templateId ? -1 : 1));
  }

  /** Throws when the template is unknown, which fails the node that asks. */
  find(ref: PromptRef): PromptTemplate {
    const found = this.lookup(ref);
    if (found !== undefined) return found;
    const have = (this.#templates.get(ref.templateId) ?? []).map(({ version }) => version).join(', ');
    throw new TerminalError('config_validation_failed', {
      message: `There is no prompt template ${refText(ref)}${have === '' ? '' : `; there are the versions ${have}`}.`,
      hint: 'Give the host the template, or name one that it has.',
      details: { ref: refText(ref) },
    });
  }
}

function byName(templates: readonly PromptTemplate[]): Templates {
  const found = new Map<string, readonly PromptTemplate[]>();
  for (const template of templates) {
    const { templateId, version } = template;
    const known = found.get(templateId) ?? [];
    if (known.some((other) => other.version === version)) {
      throw new TerminalError('config_invalid', {
        message: `There are two prompt templates ${templateId} of version ${version}.`,
        hint: 'Give the changed one a version of its own.',
      });
    }
    const sorted = [...known, template].sort((a, b) => semver.compareBuild(b.version, a.version));
    found.set(templateId, sorted);
  }
  return found;
}
