/** The request that the fork dialog sends. */
import type { CallUse, ForkRun, JsonObject } from '@cairn/protocol';

/** What a fork may do with a later call, in words. */
export const uses: readonly { readonly use: CallUse; readonly means: string }[] = [
  { use: 'reuse', means: 'Reuse the recorded result' },
  { use: 'ask', means: 'Ask me first' },
  { use: 'live', means: 'Call again' },
];

interface ForkFacts {
  readonly fromSeq: number;
  readonly calls: readonly string[];
  readonly inputs: JsonObject;
}

/** The request of a form. Inputs that were not changed are left out. */
export function forkOf(form: FormData, { fromSeq, calls, inputs }: ForkFacts): ForkRun {
  const rules = calls.map((name, at) => ({
    calls: name,
    use: uses.find(({ use }) => use === form.get(`rule-${at}`))?.use ?? 'reuse',
  }));
  const changed = changedInputs(String(form.get('inputs') ?? '{}'), inputs);
  const cairn = {
    ...(rules.length > 0 && { rules }),
    ...(Object.keys(changed).length > 0 && { overlay: { inputs: changed } }),
  };
  return { mode: 'branch', fromSeq, ...(Object.keys(cairn).length > 0 && { cairn }) };
}

function changedInputs(text: string, inputs: JsonObject): JsonObject {
  let given: unknown;
  try {
    given = JSON.parse(text === '' ? '{}' : text);
  } catch (error) {
    throw new Error(`The inputs are not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Error('The inputs must be a JSON object, such as {"topic": "tides"}.');
  const isNew = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(inputs[name]);
  return Object.fromEntries(Object.entries(given).filter(isNew));
}
