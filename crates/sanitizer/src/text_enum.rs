//! Enums with a text for each value: states, outcomes, codes, choices.

/// Defines an enum with a text for each value, from one list.
///
/// The enum is `Copy` and gets `TEXTS` (in order of declaration), `as_str`, `parse`, `Display`, and serde as a string.
/// `native.d.ts` repeats some of the texts as literals; `tests/literals.rs` compares them.
#[macro_export]
macro_rules! text_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$value_attribute:meta])* $value:ident = $text:literal, )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $( $(#[$value_attribute])* $value, )+
        }

        impl $name {
            /// The texts of all values, in order of declaration.
            $visibility const TEXTS: &'static [&'static str] = &[$($text),+];

            /// Returns the text of the value.
            #[must_use]
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$value => $text, )+
                }
            }

            /// Returns the value with exactly this text.
            #[must_use]
            $visibility fn parse(text: &str) -> Option<Self> {
                match text {
                    $( $text => Some(Self::$value), )+
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl From<$name> for &'static str {
            fn from(value: $name) -> Self {
                value.as_str()
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text)
                    .ok_or_else(|| ::serde::de::Error::unknown_variant(&text, Self::TEXTS))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    text_enum! {
        /// An enum with a text that differs from the name of the value.
        #[derive(Default)]
        enum Shade {
            /// Light.
            #[default]
            Light = "light",
            /// Dark.
            VeryDark = "very_dark",
        }
    }

    #[test]
    fn each_value_is_written_and_read_by_its_text() {
        assert_eq!(Shade::TEXTS, ["light", "very_dark"]);
        for (value, text) in [(Shade::Light, "light"), (Shade::VeryDark, "very_dark")] {
            assert_eq!((value.as_str(), value.to_string().as_str()), (text, text));
            assert_eq!(Shade::parse(text), Some(value));
            let json = serde_json::to_string(&value).expect("the value is serialized");
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<Shade>(&json).expect("the text is a value"), value);
        }
        assert_eq!(Shade::default(), Shade::Light);
    }

    #[test]
    fn unknown_texts_do_not_parse() {
        for text in ["", "Light", "light ", "dark"] {
            assert_eq!(Shade::parse(text), None, "{text}");
        }
        let error =
            serde_json::from_str::<Shade>("\"dark\"").expect_err("an unknown text is refused").to_string();
        assert!(error.contains("`light`") && error.contains("`very_dark`"), "{error}");
    }
}
