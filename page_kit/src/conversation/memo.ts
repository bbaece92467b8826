// A component that renders again only when one of its properties is another.
import { Component, type ComponentType, h } from "preact";

export function memo<Props extends object>(Inner: ComponentType<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    shouldComponentUpdate(next: Props): boolean {
      const [one, other] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      return Object.keys(other).some((key) => typeof other[key] !== "function" && one[key] !== other[key]);
    }

    render() {
      return h(Inner as ComponentType<object>, this.props);
    }
  };
}
