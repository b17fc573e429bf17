class Tools:
    def get_user_name_and_email_and_id(self, __user__: dict = {}) -> str:
        """
        Get the user name, email and ID of the person who asks.
        """
        # Hidden parameters are no part of the specification.
        return f"{__user__.get('name')} {__user__.get('email')} {__user__.get('id')}"
