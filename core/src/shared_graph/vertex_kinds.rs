//! The macro that lists the kinds of vertices of a graph. The kinds themselves, with everything that
//! is asked of them, are in files of their own.

/// Defines an enum over kinds of vertices, each of which implements a trait of questions and a trait
/// of visits, and an enum over the results of their visits. It answers the questions by its kind, to
/// which it dereferences, as a box of the kind would. The graphs have up to a million vertices, so a
/// vertex has no box, and neither has the future of its visit.
///
/// The last name is a macro that does the same for any kind, for further futures of a vertex.
macro_rules! vertex_kinds {
    (
        $(#[$about:meta])*
        enum $vertex:ident<$c:lifetime>: $questions:ident + $visits:ident {
            $( $(#[$about_kind:meta])* $kind:ident($held:ty), )+
        }
        visit($context:ty) -> $(#[$about_outcome:meta])* $outcome:ident;
        record($recorder:ty) -> $recorded:ty;
        $dollar:tt $with_kind:ident!
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) enum $vertex<$c> {
            $( $(#[$about_kind])* $kind($held), )+
        }

        $(#[$about_outcome])*
        pub(crate) enum $outcome<$c> {
            $( $(#[$about_kind])* $kind(<$held as $visits<$c>>::Outcome), )+
        }

        impl<$c> std::ops::Deref for $vertex<$c> {
            type Target = dyn $questions<$c> + $c;

            fn deref(&self) -> &Self::Target {
                match self {
                    $( Self::$kind(kind) => kind, )+
                }
            }
        }

        impl std::fmt::Display for $vertex<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&**self, f)
            }
        }

        $(
            impl<$c> From<$held> for $vertex<$c> {
                fn from(kind: $held) -> Self {
                    Self::$kind(kind)
                }
            }
        )+

        macro_rules! $with_kind {
            ($dollar vertex:expr, $dollar kind:ident => $dollar result:expr) => {
                match $dollar vertex {
                    $( Self::$kind($dollar kind) => $dollar result, )+
                }
            };
            ($dollar vertex:expr, $dollar kind:ident, $dollar outcome:ident => $dollar result:expr) => {
                match $dollar vertex {
                    $( Self::$kind($dollar kind) => {
                        let $dollar outcome = $outcome::$kind;
                        $dollar result
                    } )+
                }
            };
        }

        impl<$c> $vertex<$c> {
            /// Visits the vertex. Returns what is to be recorded, if anything is.
            pub(crate) async fn visit(
                &self,
                context: $context,
                diags: &mut formwork_value::Diagnostics,
            ) -> Option<$outcome<$c>> {
                $with_kind!(self, kind, outcome => {
                    $visits::visit(kind, context, diags).await.map(outcome)
                })
            }

            /// Records the result of its visit.
            pub(crate) fn record(&self, recorder: $recorder, found: $outcome<$c>) -> $recorded {
                match (self, found) {
                    $( (Self::$kind(kind), $outcome::$kind(found)) => {
                        $visits::record(kind, recorder, found)
                    } )+
                    // Not reached: the walk records a result with its own vertex.
                    _ => Default::default(),
                }
            }
        }
    };
}

pub(crate) use vertex_kinds;
