/** What a run or a node was asked, as the text a model reads: one rule for those who ask and those who remember. */
import type { Json, JsonObject } from '@cairn/protocol';

/** `message`, `task` or `prompt` when one is a text; else the inputs themselves, as JSON. */
export function taskText(inputs: JsonObject): string {
  const stated = [inputs.message, inputs.task, inputs.prompt].find(
    (value) => typeof value === 'string' && value !== '',
  );
  if (typeof stated === 'string') return stated;
  return Object.keys(inputs).length === 0 ? '' : JSON.stringify(inputs);
}

/** What came of a run, as text: its `content` or `result`, else its outputs as JSON. */
export function resultText(outputs: JsonObject): string {
  const stated = [outputs.content, outputs.result].find((value) => typeof value === 'string' && value !== '');
  if (typeof stated === 'string') return stated;
  return Object.keys(outputs).length === 0 ? '' : JSON.stringify(outputs as Json);
}
