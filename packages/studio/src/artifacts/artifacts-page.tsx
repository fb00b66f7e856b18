/** What agents made: all of it, or the artifact that the address names. */
import { getRouteApi } from '@tanstack/react-router';
import { ArtifactScreen } from './artifact-screen.tsx';
import { ArtifactsScreen } from './artifacts-screen.tsx';

const route = getRouteApi('/shell/artifacts/$contextId/$artifactId');

export const ArtifactsPage = () => <ArtifactsScreen />;

export function ArtifactPage() {
  const { contextId, artifactId } = route.useParams();
  const search = route.useSearch();
  return (
    <ArtifactScreen key={`${contextId} ${artifactId}`} contextId={contextId} artifactId={artifactId} search={search} />
  );
}
