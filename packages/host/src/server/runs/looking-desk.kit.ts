/** An agent that calls a tool once and says what it found, and how often the tool was called. Not shipped. */
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';

export const desk = defineAgent({
  id: 'host:desk',
  persona: 'Desk',
  instructions: 'Look.',
  tools: ['acme:look'],
  rehearsal: { turns: [[{ call: { tool: 'acme:look', input: {} } }], [{ say: 'Found {{last.found}}.' }]] },
});

export function countingLook() {
  let calls = 0;
  const look = defineTool({
    id: 'acme:look',
    description: 'Looks something up.',
    input: z.object({}),
    run: () => {
      calls += 1;
      return { found: calls };
    },
  });
  return { look, calls: () => calls };
}
