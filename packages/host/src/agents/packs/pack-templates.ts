/**
 * The prompt templates of a pack: each `templates/*.json` is one. The host has the templates of packs in its own
 * folders, as it has those of its code.
 */
import { type PromptTemplate, parseTemplate } from '../prompts/prompt-template.ts';
import { type DataKind, dataIn } from './pack-data.ts';
import type { PackFiles } from './pack-files.ts';

export interface PackTemplate {
  /** Path inside the pack. */
  readonly path: string;
  readonly template: PromptTemplate;
}

const templates: DataKind<PromptTemplate> = {
  folder: 'templates',
  parse: parseTemplate,
  nameOf: ({ templateId, version }) => `template ${templateId} ${version}`,
};

export const packTemplates = (files: PackFiles): readonly PackTemplate[] =>
  dataIn(files, templates).map(({ path, value }) => ({ path, template: value }));
