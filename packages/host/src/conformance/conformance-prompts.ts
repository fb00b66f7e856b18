/** The prompt templates used by the published fixtures. */
import type { PromptTemplate } from '../agents/prompts/prompt-template.ts';

const template = (name: string, kind: PromptTemplate['kind'], text: string): PromptTemplate => ({
  templateId: `conformance.prompt.${name}`,
  version: '1.0.0',
  kind,
  text,
});

export const conformancePrompts: readonly PromptTemplate[] = [
  template('writer-system', 'system', 'You are a writer. Answer in short, plain sentences.'),
  {
    ...template('writer-user', 'user', 'Write about this: {{prompt}}'),
    variables: [{ name: 'prompt', type: 'string', required: false, source: 'variable', defaultValue: 'anything' }],
  },
  template('schema-hint', 'schema-hint', 'Answer with a JSON object that has one field, "text".'),
  template('few-shot', 'few-shot', 'Asked for a colour: {"text":"Blue."}'),
  template('few-shot-2', 'few-shot', 'Asked for a number: {"text":"Seven."}'),
];
