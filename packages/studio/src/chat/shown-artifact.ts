/** Which artifact is open beside the conversation. Null: the one that was written last. */
import { createContext, useContext } from 'react';

export interface ShownArtifact {
  readonly shown: string | null;
  readonly show: (artifactId: string | null) => void;
}

export const ShownArtifactContext = createContext<ShownArtifact>({ shown: null, show: () => undefined });

export const useShownArtifact = (): ShownArtifact => useContext(ShownArtifactContext);
