/** The prompt templates of a host, by name and version. */
import { TerminalError } from '@cairn/protocol';
import semver from 'semver';
import { type PromptRef, type PromptTemplate, parseTemplate, refText } from './prompt-template.ts';

export class PromptRegistry {
  /** The versions of each template, newest first. */
  readonly #templates = new Map<string, readonly PromptTemplate[]>();

  /** Throws `config_invalid` for an invalid or duplicate template. */
  constructor(templates: readonly unknown[]) {
    for (const template of templates.map(parseTemplate)) this.#add(template);
  }

  #add(template: PromptTemplate): void {
    const { templateId, version } = template;
    const known = this.#templates.get(templateId) ?? [];
    if (known.some((other) => other.version === version)) {
      throw new TerminalError('config_invalid', {
        message: `There are two prompt templates ${templateId} of version ${version}.`,
        hint: 'Give the changed one a version of its own.',
      });
    }
    const sorted = [...known, template].sort((a, b) => semver.compareBuild(b.version, a.version));
    this.#templates.set(templateId, sorted);
  }

  /** Throws when the template is unknown, which fails the node that asks. */
  find(ref: PromptRef): PromptTemplate {
    const versions = this.#templates.get(ref.templateId) ?? [];
    const found = versions.find(({ version }) => ref.version === undefined || version === ref.version);
    if (found !== undefined) return found;
    const have = versions.map(({ version }) => version).join(', ');
    throw new TerminalError('config_validation_failed', {
      message: `There is no prompt template ${refText(ref)}${have === '' ? '' : `; there are the versions ${have}`}.`,
      hint: 'Give the host the template, or name one that it has.',
      details: { ref: refText(ref) },
    });
  }
}
