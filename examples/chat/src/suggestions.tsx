/** Requests that the demo host knows. Replace them with your own. */
import type { ClientTools } from '@cairn/client/context';
import { pageTools } from './page-tools.tsx';

export interface Suggestion {
  readonly text: string;
  /** Who answers. Default: the agent that answered last. */
  readonly agentId?: string;
  /** Tools of the page that the agent may call. */
  readonly tools?: ClientTools;
  /** A workflow to start in the conversation, instead of a message to an agent. */
  readonly workflowId?: string;
}

const suggestions: readonly Suggestion[] = [
  { text: 'Plan a trip to the coast', agentId: 'host:planner' },
  { text: 'Who am I at the forge?', agentId: 'host:clerk' },
  { text: 'Read my ledger', agentId: 'host:bookkeeper' },
  { text: 'Paint the hut', agentId: 'host:painter', tools: pageTools },
  { text: 'Send out the crew', workflowId: 'crew' },
];

export const Suggestions = ({ onPick }: { readonly onPick: (suggestion: Suggestion) => void }) => (
  <div className="suggestions">
    {suggestions.map((suggestion) => (
      <button type="button" key={suggestion.text} onClick={() => onPick(suggestion)}>
        {suggestion.text}
      </button>
    ))}
  </div>
);
